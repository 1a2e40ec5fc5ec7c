"""`moot calibrate`: what is learned from runs, that it is used, and how little a few runs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.parameters import params_bytes
from detectors.stopping.estimation import estimated, tolerance_factor, upper
from detectors.stopping.parameters import gate_parameters, read_parameters
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold
from ledger.state.state import State
from ledger.store.store import RunStore
from tests.cli.conftest import Moot
from tests.protocols.test_answers import Examiner, begin
from tests.rounds.openings import play


def _state(seed: int) -> State:
    return fold(read_skill(Simulation(Setting(seed=seed)).files(), None).events)


def test_what_nine_in_ten_stay_below_is_above_the_mean_and_chance_is_taken_out() -> None:
    binomial = lambda mean, units: mean * (1 - mean) / units  # noqa: E731  # the shape that the estimator wants
    alike = [(2.0, 20.0)] * 10
    assert upper(alike, binomial) == pytest.approx(0.1)
    apart = [(0.0, 100.0), (40.0, 100.0)] * 5
    found = upper(apart, binomial)
    assert found is not None
    assert 0.2 + 1.28 * 0.2 < found < 0.2 + 2.1 * 0.22  # ten runs: 2.07 spreads of about 0.2
    assert upper([], binomial) is None
    assert upper([(0.0, 0.0)], binomial) is None


def test_the_estimates_of_many_runs_are_near_what_was_simulated() -> None:
    found = estimated([_state(seed) for seed in range(30)], gate_parameters())
    by_name = {one.name: one for one in found.estimates}
    assert by_name["giving_in"].runs == 30
    assert (
        0.125 < by_name["giving_in"].estimated < 0.25
    )  # simulated with a mean of 0.125, a spread of a third
    assert 0.18 < by_name["drift_unanchored"].estimated < 0.36
    rule = found.parameters.giving_in
    assert rule.p0 == by_name["giving_in"].estimated
    assert list(rule.grid) == sorted(rule.grid)
    assert all(rule.p0 < worse < 1 for worse in rule.grid)
    assert by_name["ready.pending"].runs == 30
    assert found.parameters.ready.pending_at_most == by_name["ready.pending"].estimated < 0.5
    assert found.parameters.ready.window_rounds == gate_parameters().ready.window_rounds


@pytest.mark.parametrize(("runs", "exact"), [(5, 2.742), (10, 2.066), (30, 1.657), (100, 1.470)])
def test_the_tolerance_factor_is_near_the_exact_one(runs: int, exact: float) -> None:
    """Exact one-sided factors (90 %, 90 %), as the tables of the noncentral t distribution have them."""
    assert tolerance_factor(runs) == pytest.approx(exact, abs=0.2)
    assert tolerance_factor(runs) > tolerance_factor(runs + 1)


def test_too_few_runs_are_refused_with_the_number_that_is_wanted(moot: Moot, tmp_path: Path) -> None:
    for seed in range(4):
        _imported(moot, tmp_path, seed)
    out = tmp_path / "ours.toml"
    said = moot("calibrate", tmp_path / "runs", "--out", out)
    assert said.code == 2
    assert "4 runs are too few" in said.err
    assert "at least 5 runs" in said.err
    assert "30 are wanted" in said.err
    assert not out.exists()


def test_a_run_that_records_little_leaves_the_installed_numbers() -> None:
    files = Simulation(Setting(seed=1, seed_fields_only=True)).files()
    found = estimated([fold(read_skill(files, None).events)], gate_parameters())
    assert {one.name for one in found.estimates if not one.runs} == {
        "giving_in",
        "drift_unanchored",
        "starvation",
    }
    assert found.parameters.giving_in == gate_parameters().giving_in


def _imported(moot: Moot, directory: Path, seed: int) -> Path:
    source = directory / f"source-{seed}"
    source.mkdir(parents=True)
    for name, content in Simulation(Setting(seed=seed)).files().items():
        (source / name).write_bytes(content)
    assert moot("import", "skill", source, "--out", directory / "runs" / f"run-{seed}").code == 0
    return directory / "runs" / f"run-{seed}"


def test_a_file_is_written_and_used(moot: Moot, tmp_path: Path) -> None:
    runs = [_imported(moot, tmp_path, seed) for seed in range(5)]
    out = tmp_path / "ours.toml"
    found = moot("calibrate", tmp_path / "runs", "--out", out, "--json").json
    assert len(found["runs"]) == 5
    assert "30 are wanted" in found["warnings"][0]
    assert read_parameters(out.read_bytes()) != gate_parameters()
    assert "30 are wanted" in out.read_text()
    plain = moot("signals", runs[0], "--json").json
    ours = moot("signals", runs[0], "--params", out, "--json").json
    assert (plain["profile"], ours["profile"]) == ("gates", "gates")
    assert [one["e_value"] for one in plain["alarms"]] != [one["e_value"] for one in ours["alarms"]]
    assert moot("signals", runs[0], "--params", out, "--profile", "text").code == 2


def test_a_run_keeps_the_thresholds_that_it_was_opened_with(moot: Moot, tmp_path: Path) -> None:
    for seed in range(5):
        _imported(moot, tmp_path, seed)
    out = tmp_path / "ours.toml"
    params = moot("calibrate", tmp_path / "runs", "--out", out, "--json").json["params"]
    run = tmp_path / "new"
    moot("run", "-q", "Which?", "--seats", "host", "--params", out, "--out", run)
    opened = RunStore(run).state().opened
    assert opened is not None
    assert opened.stop.params == params
    assert (run / "blobs" / params).read_bytes() == out.read_bytes()
    refused = moot(
        "run",
        "-q",
        "Which?",
        "--seats",
        "host",
        "--params",
        out,
        "--profile",
        "text",
        "--out",
        tmp_path / "n",
    )
    assert refused.code == 2


def test_what_is_no_parameter_file_or_no_run_is_refused(moot: Moot, tmp_path: Path, finished: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("watch_at = 3\n")
    assert moot("signals", finished, "--params", wrong).code == 2
    (tmp_path / "empty").mkdir()
    assert moot("calibrate", tmp_path / "empty").code == 2


def test_a_file_that_bets_the_wrong_way_is_refused_by_its_name_and_key(moot: Moot, tmp_path: Path) -> None:
    """R-14: the message names file, key and what to change, and nothing is opened."""
    wrong = tmp_path / "wrong.toml"
    text = params_bytes("gates").decode().replace("above_share = 0.09", "above_share = 0.4")
    wrong.write_text(text)
    run = _imported(moot, tmp_path, 1)
    for words in (("signals", run), ("run", "-q", "Which?", "--seats", "host", "--out", tmp_path / "n")):
        said = moot(*words, "--params", wrong)
        assert said.code == 2
        assert all(
            one in said.err for one in ("wrong.toml", "domination_cited.grid", "domination_cited.above_share")
        )
        assert "Traceback" not in said.err
    assert not (tmp_path / "n").exists()


def test_the_command_writes_what_runs_with_sealed_answers_say(moot: Moot, tmp_path: Path) -> None:
    for seed in range(5):
        play(begin(tmp_path / "runs" / f"run-{seed}"), Examiner(seed))
    out = tmp_path / "ours.toml"
    found = moot("calibrate", tmp_path / "runs", "--out", out, "--json").json
    rates = {one["name"]: one for one in found["rates"]}
    assert rates["settled.points"]["runs"] == rates["settled.noise"]["runs"] == 5
    written = read_parameters(out.read_bytes()).settled
    assert written is not None
    assert (
        written.points_at_most == rates["settled.points"]["estimated"] != 5.0
    )  # scripted answers stand still
    assert written.rounds_unchanged == 2
    kept = [one["name"] for one in found["rates"] if one["runs"] < 5]
    assert "giving_in" in kept  # nobody was asked for positions
    assert f"fewer than 5 runs tell: {', '.join(kept)}" in " ".join(found["warnings"])
    assert all(rates[name]["estimated"] == rates[name]["installed"] for name in kept)
