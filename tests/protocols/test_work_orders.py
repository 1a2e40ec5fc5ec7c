"""Work orders of `crux`: what a program would settle where nothing is run here, its command, and its result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import moot
from ledger.events import ExperimentJudged, ExperimentPlanned, ExperimentRun
from moot.view.outcome import Outcome, outcome_of
from roles.protocol import awaited_answers
from rounds.protocols.crux import standing
from rounds.run.experiments import conduct
from rounds.run.human_actions import allow_experiment, hand_in
from rounds.run.session import RunSession
from tests.protocols.crux_seats import HOW, ROLES, World, begin, play
from tests.rounds.experimenting import BENCH

CLAIM = "C-1-1"
FIRST: dict[str, int] = dict.fromkeys(ROLES, 60)
WORLD = World(
    first=FIRST, proposed={"guardian": ("execution", 70, 75, 25)}, later=(70, 75, 25), own=90, unfair=()
)
"""Worth 12.5 points where it can be run, and nothing where it is argued about."""


@pytest.fixture(autouse=True)
def by_execution() -> Iterator[None]:
    HOW["guardian"] = "execution"
    yield
    HOW.clear()


def handed_over(path: Path, rules: dict[str, str] | None = None, world: World = WORLD) -> RunSession:
    """A run that nobody allowed to run programs, when its forecasts are in."""
    session = begin(path, rules)
    play(session, world)
    return session


def outcome(session: RunSession) -> Outcome:
    return outcome_of(str(session.run.path), session.book())


def test_what_is_handed_over_has_a_program_a_command_and_its_worth(tmp_path: Path) -> None:
    session = handed_over(tmp_path / "run")
    book, path = session.book(), session.run.path
    (plan,) = book.of(ExperimentPlanned)
    assert (plan.claims, plan.by in ROLES) == ((CLAIM,), True)
    assert not book.of(ExperimentRun)
    assert book.state.looks[-1].reason == "hand_over"
    (asked,) = outcome(session).needs_you
    assert asked.command == f"moot experiment submit {path} E-2-1 FILE"
    for part in ("worth 12.5 points", "`python3 test.py dict`", f"moot experiment run {path} E-2-1"):
        assert part in asked.text
    assert [f for f in moot.check(path).findings if f.severity == "error"] == []


def test_closed_without_waiting_the_order_stands_in_what_to_do_now(tmp_path: Path) -> None:
    session = handed_over(tmp_path / "run", {"wait": "off"})
    assert session.book().state.finished
    found = outcome(session)
    assert found.status == "run_this_first"
    first = found.do_now[0]
    assert first.refs == [CLAIM, "E-2-1"]
    for part in (
        "worth 12.5 points",
        "`python3 test.py dict`",
        "moot experiment submit",
        "moot experiment run",
    ):
        assert part in first.text


def test_a_result_handed_in_opens_a_round_in_which_all_are_asked(tmp_path: Path) -> None:
    session = handed_over(tmp_path / "run")
    (question,) = awaited_answers(session.protocol, session.book().state)
    hand_in(session, "E-2-1", "Run elsewhere: it holds.")
    session.settle()
    state = session.book().state
    assert question in state.resolved
    assert standing.handed_in(state, 3) == (CLAIM,)
    assert [one.step.id for one in session.asked()] == [f"r3.F.{role}" for role in ROLES]
    assert all("Run elsewhere: it holds." in one.brief.text for one in session.asked())
    book = play(session, WORLD)
    assert book.state.finished
    assert book.state.looks[-1].reason != "hand_over"  # it was asked about once, and is asked no more
    assert [b for b in book.state.beliefs.values() if b.round == 3 and b.derived] == []
    assert book.state.claims[CLAIM].status == "pending"  # said, until it is run here
    assert not book.of(ExperimentJudged)
    assert [f for f in moot.check(session.run.path).findings if f.severity == "error"] == []


def test_run_here_after_all_it_is_judged_and_moves_beliefs(tmp_path: Path) -> None:
    session = handed_over(tmp_path / "run")
    allow_experiment(session, "E-2-1")
    list(conduct(session, BENCH, "E-2-1"))
    book = session.book()
    assert book.state.claims[CLAIM].status == "tested_confirmed"
    assert [b.round for b in book.state.beliefs.values() if b.derived] == [2] * 4
    book = play(session, WORLD)
    assert book.state.finished
    assert book.state.closing is not None
    assert book.state.closing.reason != "hand_over"
    assert [f for f in moot.check(session.run.path).findings if f.severity == "error"] == []


def test_a_program_that_two_call_unfair_is_in_no_order(tmp_path: Path) -> None:
    world = World(
        first=FIRST, proposed=WORLD.proposed, later=WORLD.later, own=90, unfair=("observer", "critic")
    )
    session = handed_over(tmp_path / "run", None, world)
    assert session.book().of(ExperimentPlanned)
    assert not [one for one in outcome(session).needs_you if "experiment" in one.command]


@pytest.mark.parametrize("rules", [{"orders": "off"}])
def test_without_the_rule_nobody_is_asked_for_a_program(tmp_path: Path, rules: dict[str, str]) -> None:
    session = handed_over(tmp_path / "run", rules)
    assert not session.book().of(ExperimentPlanned)
    (asked,) = outcome(session).needs_you
    assert asked.command.startswith("moot answer")
