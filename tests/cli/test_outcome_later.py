"""`moot outcome`: what a run comes to, and months later whether it held; scored where the run gave a likelihood."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Moot
from tests.protocols.crux_seats import scripted_run


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """A finished scripted run of `crux`, to be written on."""
    return scripted_run(tmp_path / "storage")


def test_a_decision_that_failed_is_scored_and_shown_first_everywhere(moot: Moot, storage: Path) -> None:
    before = moot("outcome", storage, "--json").json
    assert (before["events"], before["outcome"]["became"]) == ([], [])
    points = moot("signals", storage, "--json").json["group"]["O-1"]
    said = moot("outcome", storage, "failed", "A line\nwas lost in March.", "--by", "Ada", "--json")
    (one,) = said.json["outcome"]["became"]
    assert len(said.json["events"]) == 1
    assert (one["fate"], one["by"], one["text"]) == ("failed", "Ada", "A line was lost in March.")
    assert one["points"] == points
    assert one["brier"] == pytest.approx((points / 100) ** 2, abs=1e-4)
    line = "became      It failed: A line was lost in March."
    for verb in ("outcome", "status", "decisions"):
        assert line in moot(verb, storage).out, verb
    assert "**Became**" in moot("report", storage, "--page").out
    assert moot("report", storage, "--html", "report.html").code == 0
    assert "It failed: A line was lost in March." in Path("report.html").read_text()
    assert moot("check", storage, "--quiet").code == 0
    assert moot("verify", storage, "--quiet").code == 0
    assert moot("replay", storage, "--re-execute").code == 0


def test_what_was_said_last_stands_and_all_of_it_is_kept(moot: Moot, storage: Path) -> None:
    moot("outcome", storage, "unknown", "Nobody looked yet.", "--by", "Ada")
    moot("outcome", storage, "held", "A year without a loss.", "--by", "Bob")
    (one,) = moot("outcome", storage, "--json").json["outcome"]["became"]
    assert (one["fate"], one["by"]) == ("held", "Bob")
    assert one["brier"] == pytest.approx((one["points"] / 100 - 1) ** 2, abs=1e-4)
    again = moot("outcome", storage, "held", "A year without a loss.", "--by", "Bob", "--json").json["events"]
    kept = moot("log", storage, "--kind", "amendment", "--json").json["events"]
    told = [change for event in kept for change in event["change"] if change["path"].startswith("became.")]
    assert [(change["from"], change["to"]) for change in told] == [(None, "unknown"), ("unknown", "held")]
    assert again, "the same words again are the same event"


def test_without_a_likelihood_nothing_is_scored(moot: Moot, finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    (one,) = moot("outcome", tmp_path / "run", "failed", "No.", "--json").json["outcome"]["became"]
    assert (one["points"], one["brier"]) == (None, None)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("gone", "It was."), 2, "use one of accepted, edited, rejected, held, failed, mixed, unknown"),
        (("held",), 2, "held needs a text"),
        (("held", " "), 2, "no words"),
        (("--by", "Ada"), 2, "no word says what became of it"),
        (("held", "Yes.", "--decision", "D-99-1"), 1, "no decision 'D-99-1'"),
    ],
)
def test_what_cannot_be_said_is_refused(
    moot: Moot, storage: Path, words: tuple[str, ...], code: int, says: str
) -> None:
    said = moot("outcome", storage, *words)
    assert (said.code, says in said.err) == (code, True), said
    assert moot("outcome", storage, "--json").json["outcome"]["became"] == []
