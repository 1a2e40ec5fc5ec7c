"""`moot report --adr FILE`: a decision record is a proposal until a person accepts the outcome."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from moot.app.session import Session
from roles.seats.port import Answer
from tests.cli.conftest import Moot
from tests.long_run import long_run
from tests.protocols.playing import played
from tests.rounds.openings import begin, rows
from tests.rounds.scripted import Script

RUNS: Final[dict[str, Callable[[], Path]]] = {
    "crux": partial(played, "crux"),
    "debate": partial(played, "debate"),
    "structured": long_run,
}


@pytest.fixture(params=RUNS)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a finished scripted run that may be written on."""
    return Path(shutil.copytree(RUNS[request.param](), tmp_path / "run"))


def status(moot: Moot, run: Path) -> str:
    said = moot("report", run, "--adr", "record.md", "--json")
    assert (said.code, said.json["out"], said.json["text"]) == (0, "record.md", None)
    first, line, *_ = Path("record.md").read_text("utf-8").splitlines()
    assert first == "---"
    return line.removeprefix("status: ")


def test_a_record_is_a_proposal_until_a_person_accepts(moot: Moot, run: Path) -> None:
    assert status(moot, run) == "proposed"
    Session(run).note("Read it.")
    assert status(moot, run) == "proposed", "a remark accepts nothing"
    Session(run).accept()
    assert status(moot, run) == "accepted"
    Session(run).accept(rejected=True)
    assert status(moot, run) == "rejected", "the last word counts"
    Session(run).accept()
    assert status(moot, run) == "accepted"
    assert Session(run).accept() == Session(run).accept(), "the same word again is no second act"


def test_an_edited_outcome_is_accepted(moot: Moot, run: Path) -> None:
    Session(run).accept("We do something close to it.")
    assert status(moot, run) == "accepted"


def test_an_override_is_a_new_proposal(moot: Moot, run: Path) -> None:
    Session(run).accept()
    final = moot("decisions", run, "--final", "--in-force", "--json").json["decisions"][0]["id"]
    assert moot("override", run, final, "We wait a year.").code == 0
    assert status(moot, run) == "proposed"
    Session(run).accept()
    assert status(moot, run) == "accepted"


def test_one_file_is_written(moot: Moot, tmp_path: Path) -> None:
    run = played("debate")
    (tmp_path / "folder").mkdir()
    assert moot("report", run, "--adr", "folder").code == 2
    assert list((tmp_path / "folder").iterdir()) == []
    for other in (("--out", "a.md"), ("--html", "a.html"), ("--full",), ("--page",)):
        assert moot("report", run, "--adr", "record.md", *other).code == 2
    assert not Path("record.md").exists()


def test_a_person_who_decided_is_named_at_every_door(moot: Moot, tmp_path: Path) -> None:
    """A-11: "decision-makers: nobody" while the run goes on, and "by human" in the report and in `decisions`."""
    run, script = tmp_path / "run", Script()
    session = begin(run, rows(2))
    answer = Answer(seat="command", isolation="trusted", simulated="fake")
    while not session.book().state.decisions:
        asked = session.pending()[0]
        session.submit(asked.step.id, script.reply(session.book(), asked.step, asked.brief.saw), answer)
    decided, *_ = session.book().state.decisions
    assert moot("override", run, decided, "One database.", "--by", "Ada Byron").code == 0
    moot("report", run, "--adr", "record.md")
    assert '\ndecision-makers: "Ada Byron' in Path("record.md").read_text("utf-8")
    assert f"override in place of {decided}, in force   (Ada Byron)\n" in moot("decisions", run).out
    assert f"(override in place of {decided}, round 2, by Ada Byron)" in moot("report", run).out
