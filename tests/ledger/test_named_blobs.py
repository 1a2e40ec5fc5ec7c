"""Named blobs: one function says them all, and the run's own parameters are among them (R-10)."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest

from detectors.parameters import params_bytes
from ledger.audit.verify import verify
from ledger.events import RunOpened
from ledger.store.blobs import all_named_blobs
from ledger.store.store import RunStore
from tests.blob_lines import blobs_of, lose
from tests.cli.conftest import Moot, moot
from tests.rounds.openings import begin, play, rows
from tests.security.strange_runs import Donors, read, written

__all__ = ["moot"]

OWN = params_bytes("gates") + b"\n# thresholds of our own\n"


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that was opened with thresholds of its own."""
    path = tmp_path_factory.mktemp("own") / "ended"
    assert play(begin(path, rows(2), params=OWN)).state == "finished"
    return path


def parameters_of(run: Path) -> str:
    """Return the hash of the run's own parameters."""
    opened = RunStore(run).book().state.opened
    assert opened is not None
    return opened.stop.params


def strings(value: object) -> set[str]:
    """Every string in a value."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        value = list(value.values())
    return set().union(*map(strings, value)) if isinstance(value, list | tuple) else set()


def test_every_blob_of_a_run_that_a_string_of_it_names_is_named(ended: Path) -> None:
    """R-10: what looks like the hash of a blob that is there is one that the function knows, and the other way."""
    run = RunStore(ended)
    there = set(run.blobs.names())
    for event, (_, _, line) in zip(run.events(), run.lines(), strict=True):
        said = strings(orjson.loads(line)) & there
        ours = {named.sha256 for named in all_named_blobs(event, run.blobs.read)}
        if event.kind not in ("signals", "alarm"):  # they repeat the parameters of the opening
            assert said <= ours, f"@{event.seq}"
        assert ours <= there
    everything = {named.sha256 for event in run.events() for named in all_named_blobs(event, run.blobs.read)}
    assert everything == there


def test_lost_parameters_are_damage_and_a_finding(moot: Moot, ended: Path, tmp_path: Path) -> None:
    """R-10: the thresholds of a run do not vanish silently."""
    run = Path(shutil.copytree(ended, tmp_path / "run"))
    assert moot("check", run).code == 0
    assert moot("signals", run, "--json").code in (0, 1)
    lose(run, parameters_of(run))
    report = verify(run)
    assert report.damaged
    assert any("the file of the run's own parameters is missing" in one.what for one in report.problems)
    checked = moot("check", run, "--json")
    assert checked.code == 1
    said = [one["message"] for one in checked.json["findings"]]
    assert any("the run's own parameters is missing" in one for one in said), said
    assert checked.json["as_given"] >= 1
    told = moot("signals", run)
    assert told.code == 2
    assert "the file of the run's own parameters" in told.err
    assert told.err.count("\n") == 1
    assert moot("signals", run, "--profile", "published").code in (0, 1)
    reported = moot("report", run)
    assert reported.code == 0, reported.err
    assert "The run's own parameters are not here" in reported.out


def test_an_open_run_keeps_its_parameters_and_goes_on_only_with_them(moot: Moot, tmp_path: Path) -> None:
    """R-10: `redact` leaves an open run its thresholds, and nothing is judged by others."""
    run = tmp_path / "open"
    begin(run, rows(1), params=OWN)
    parameters = parameters_of(run)
    refused = moot("redact", run, parameters, "--reason", "x")
    assert refused.code == 2
    assert "parameters is still needed" in refused.err
    lose(run, parameters)
    before = len(RunStore(run).events())
    for verb in (("next", run), ("submit", run, "r1.B.action", "--give-up", "x")):
        said = moot(*verb)
        assert (said.code, said.err.count("\n")) == (2, 1), said
        assert "the run's own parameters" in said.err
    assert len(RunStore(run).events()) == before


def test_redacted_parameters_are_said_and_not_replaced(moot: Moot, ended: Path, tmp_path: Path) -> None:
    """R-10: a redaction on the record is no damage, and still nothing is read by other thresholds."""
    run = Path(shutil.copytree(ended, tmp_path / "run"))
    assert moot("redact", run, parameters_of(run), "--reason", "x").code == 0
    assert moot("verify", run).code == 0
    assert moot("check", run).code == 0
    assert moot("signals", run).code == 2


def test_a_fork_has_its_parents_parameters(moot: Moot, ended: Path, tmp_path: Path) -> None:
    """R-10: the blobs of a fork are those that the shared events name."""
    assert moot("fork", ended, "--round", "2", "--seats", "host", "--out", tmp_path / "fork").code in (0, 4)
    opened = next(event for event in RunStore(tmp_path / "fork").events() if isinstance(event, RunOpened))
    assert blobs_of(tmp_path / "fork")[opened.stop.params] == OWN
    assert verify(tmp_path / "fork").ok


def test_parameters_that_are_none_are_refused_in_words(moot: Moot, ended: Path, tmp_path: Path) -> None:
    """R-10, F-7: an opening may name any blob; one that is no parameter file is a strange run and no fault of ours."""
    source = read(ended)
    lines = source.copied()
    lines[0]["stop"]["params"] = lines[0]["prompt_set"]
    strange = tmp_path / "strange"
    assert written(lines, strange, Donors((source,)))
    for verb in ("check", "signals", "status", "report", "replay"):
        said = moot(verb, strange)
        assert said.code in (0, 1, 2), (verb, said)
        assert "fault of moot" not in said.err
    assert moot("signals", strange).code in (0, 1), "read by the installed thresholds"
