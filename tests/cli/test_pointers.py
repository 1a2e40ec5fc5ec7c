"""Where one command points to another, the other shows what was promised."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledger.events import Concern
from moot.api import open_run
from tests.cli.conftest import Moot, Said
from tests.long_run import long_run
from tests.protocols import playing
from tests.protocols.playing import played
from tests.rounds.openings import begin, rows


def test_decisions_point_to_the_quoted_sentence(moot: Moot) -> None:
    last = moot("decisions", long_run()).out.strip().splitlines()[-1]
    assert last.startswith("what a verdict saw and quotes: moot log ")
    said = moot(*last.split("moot ", 1)[1].split())
    assert said.code == 0
    assert '"quote": "' in said.out


def test_the_panel_points_to_the_older_questions(moot: Moot) -> None:
    panel = " ".join(moot("signals", long_run(), "--all").out.split())
    assert "older ones: `moot log RUN --kind concern`" in panel
    oldest = next(one for one in open_run(long_run()).book.of(Concern) if one.for_human)
    assert str(oldest.id) in moot("log", long_run(), "--kind", "concern").out


def test_a_rejected_outcome_has_no_edit_distance(moot: Moot, tmp_path: Path) -> None:
    run = tmp_path / "notice"
    shutil.copytree(played("ratchet"), run)
    used = tmp_path / "used.md"
    used.write_text("Quite another text.\n")
    assert moot("outcome", str(run), "edited", str(used)).code == 0
    assert moot("study", "value", str(run), "--json").json["runs"][0]["edit_distance"] == "high"
    assert moot("outcome", str(run), "rejected").code == 0
    value = moot("study", "value", str(run), "--json").json["runs"][0]
    assert (value["accepted"], value["edit_distance"]) == (False, None)


def test_an_id_alone_means_that_of_the_last_run_in_every_verb_that_takes_one(moot: Moot) -> None:
    shutil.copytree(played("ratchet"), "runs/mine")
    event = next(event for event in open_run("runs/mine").events if event.id)
    for verb in ("status", "show", "log"):
        alone = moot(verb, event.id, "--json")
        assert (alone.code, alone.err) == (0, "")
        assert alone == moot(verb, "@last", event.id, "--json")
        assert moot(verb, f"@{event.seq}", "--json") == alone
    assert str(event.id) in moot("log", event.id).out.partition("\n")[0]


def test_an_id_that_a_filter_excludes_is_an_error(moot: Moot) -> None:
    run = played("ratchet")
    event = next(event for event in open_run(run).events if event.id)
    kept = moot("log", run, event.id, "--kind", event.kind, "--by", event.by)
    assert kept == moot("log", run, event.id)
    for option, value in (
        ("--kind", "claim"),
        ("--round", "99"),
        ("--by", "human"),
        ("--stream", "decisions"),
    ):
        excluded = moot("log", run, event.id, option, value)
        assert (excluded.code, excluded.out) == (2, ""), option
        assert str(event.id) in excluded.err


@pytest.mark.parametrize(
    ("verb", "option", "value", "near"),
    [
        ("log", "--by", "critc", "critic"),
        ("log", "--kind", "clam", "claim"),
        ("log", "--stream", "verification", "verifications"),
        ("claims", "--status", "tested_refutd", "tested_refuted"),
    ],
)
def test_a_mistyped_filter_is_an_error_that_names_the_closest(
    moot: Moot, verb: str, option: str, value: str, near: str
) -> None:
    mistyped = moot(verb, long_run(), option, value)
    assert (mistyped.code, mistyped.out) == (2, "")
    assert f"did you mean {near!r}?" in mistyped.err
    unknown = moot(verb, long_run(), option, "#")
    assert (unknown.code, unknown.out) == (2, "")
    assert near in unknown.err


def test_a_role_that_has_written_nothing_is_no_error(moot: Moot, tmp_path: Path) -> None:
    run = tmp_path / "run"
    begin(run, rows(1))
    for role in ("critic", "human"):
        assert moot("log", run, "--by", role) == Said(0, "", "")


def test_the_log_shows_a_forecast_once_it_may_be_read(moot: Moot, tmp_path: Path) -> None:
    """A run that had ended still said "sealed belief", and "0 of 0 hold" of the stop check of `crux`."""
    open_ = playing.begin(tmp_path / "open", "crux")
    playing.submit(open_, open_.pending()[0])
    playing.submit(open_, open_.pending()[0])
    sealed = moot("log", str(tmp_path / "open"), "--kind", "belief").out.splitlines()
    assert sealed
    assert all("sealed" in line and "%" not in line for line in sealed)

    run = str(played("crux"))
    forecasts = moot("log", run, "--kind", "belief").out.splitlines()
    assert forecasts
    assert all("%" in line and "sealed" not in line for line in forecasts)
    (stop,) = moot("log", run, "--kind", "signals").out.splitlines()
    assert "group forecast O-" in stop
    assert "hold" not in stop
