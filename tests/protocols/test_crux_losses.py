"""Runs of `crux` that lose a reply, a budget or a process: each ends in a stated status and re-executes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import moot
from ledger.events import Decision
from ledger.state.book import Book
from moot.app.session import session_at
from roles.outcome_status import OutcomeStatus
from rounds.protocols import PROTOCOLS
from rounds.protocols.crux import standing
from rounds.run.human_actions import answer
from rounds.run.outcome import quorum_of
from tests.protocols.crux_seats import ROLES, World, begin, contested, play, status_of, submit
from tests.protocols.test_crux import sound
from tests.rounds.experimenting import BENCH
from tests.slowly import mostly_slow

CRUX = PROTOCOLS["crux"]
FULL = contested(
    "execution",
    "document",
    "calculation",
    programs={"action": ("error", "holds")},
    unsupported=(2,),
    rewritten="There is another reason for it.",
)
STEPS = (
    "r1.A.verifier",
    *(f"r1.B.{role}" for role in ROLES),
    "r1.C.verifier",
    *(f"r1.E.{role}" for role in ROLES),
    "r1.D.c1.action",
    "r1.D.c3.action",
    "r1.D.verifier",
    "r1.D.c1_repair.action",
    "r1.S.memo.action",
    "r1.S.objection.guardian",
    "r1.S.check.verifier",
    "r1.S.memo.action~2",
    "r1.S.check.verifier~2",
)
STATED = {
    OutcomeStatus.DECIDED,
    OutcomeStatus.YOUR_CALL,
    OutcomeStatus.RUN_THIS_FIRST,
    OutcomeStatus.NOBODY_ANSWERED,
}


def test_the_list_of_steps_is_what_the_run_asks_for(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run", {"wait": "off"}, experiments="on"), FULL, bench=BENCH)
    assert set(book.state.answered) == set(STEPS)


@pytest.mark.parametrize("options", mostly_slow([2, 0], 1))
@pytest.mark.parametrize("lost", mostly_slow(sorted(STEPS, key=STEPS[::2].__contains__, reverse=True), 6))
def test_a_lost_reply_ends_in_a_stated_status(tmp_path: Path, lost: str, options: int) -> None:
    session = begin(tmp_path / "run", {"wait": "off"}, experiments="on", options=options)
    book = sound(play(session, FULL, lose=frozenset({lost}), bench=BENCH))
    assert book.state.finished
    assert status_of(book) in STATED
    assert lost in book.state.given_up or lost not in book.state.answered
    assert [one for one in book.of(Decision) if one.type == "final"]


@pytest.mark.parametrize("role", ROLES)
def test_a_role_without_numbers_leaves_the_group_only_where_a_verdict_needs_them(
    tmp_path: Path, role: str
) -> None:
    lost = frozenset({f"r1.E.{role}"})
    tested = play(begin(tmp_path / "tested"), contested("document"), lose=lost)
    proposer = role == "action"  # its proposal has numbers about its own crux
    assert (role in standing.standing_at(tested.state).forecasts) is proposer
    untested = play(begin(tmp_path / "untested", {"wait": "off"}), contested("person"), lose=lost)
    assert role in standing.standing_at(untested.state).forecasts


def test_nobody_answers(tmp_path: Path) -> None:
    lose = frozenset(f"r1.B.{role}" for role in ROLES)
    book = sound(play(begin(tmp_path / "run"), World(), lose=lose))
    assert book.state.finished
    assert status_of(book) is OutcomeStatus.NOBODY_ANSWERED
    assert quorum_of(book.state).kind == "unanswered"


def test_both_memos_lost_leave_the_block_from_code(tmp_path: Path) -> None:
    lose = frozenset({"r1.S.memo.action", "r1.S.memo.guardian"})
    book = sound(play(begin(tmp_path / "run"), World(), lose=lose))
    (final,) = [one for one in book.of(Decision) if one.type == "final"]
    assert final.about == ("O-1",)
    told = moot.open_run(tmp_path / "run").outcome
    assert "three streams" in told.answer
    assert told.why  # the reasons of the nearest role


@pytest.mark.parametrize("calls", mostly_slow([1, 4, 7, 13, 14, 2, 3, 5, 6, 8, 9, 10, 11, 12], 5))
def test_every_budget_of_calls_stops_or_ends(tmp_path: Path, calls: int) -> None:
    from rounds.run.budget import used_up

    session = begin(tmp_path / "run", {"wait": "off"}, budget={"calls": calls})
    world = contested("document")
    for _ in range(30):
        reason = used_up(session.book().state, 0.0)
        asked = session.pending()
        if reason is not None and asked:
            session.stop(reason)
            break
        if not asked:
            break
        submit(session, asked[0], world)
    book = sound(session.book())
    status = status_of(book)
    assert status is (OutcomeStatus.STOPPED if calls < 14 else OutcomeStatus.DECIDED)


MOMENTS = ("r1.E.critic", "r1.D.verifier", "r1.S.memo.action", "r1.S.check.verifier", "the end")


@pytest.mark.parametrize("result", mostly_slow(["fails", None, "holds"], 2))
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_persons_word_at_every_moment(tmp_path: Path, moment: str, result: str | None) -> None:
    session = begin(tmp_path / "run")
    world = contested("person", "document", "person")
    for _ in range(40):
        asked = session.pending()
        if not asked or asked[0].step.id == moment:
            break
        submit(session, asked[0], world)
    state = session.book().state
    open_questions = [
        one
        for one, facts in state.concerns.items()
        if facts.for_human and facts.between and one not in state.resolved
    ]
    if result is not None:
        answer(session, "C-1-1", "Measured.", result=result)  # type: ignore[arg-type]
    elif open_questions:
        answer(session, open_questions[0], "It depends on the season.")
    book = sound(play(session, world))
    assert status_of(book) in STATED | {OutcomeStatus.WAITING}
    if result is not None:
        crux = next(one for one in standing.table_at(book.state).cruxes if one.claim == "C-1-1")
        assert crux.verdict is not None
        assert crux.verdict.holds is (result == "holds")


CHILD = """
import os, signal, sys
from pathlib import Path
from moot.app.session import session_at
from tests.protocols.crux_seats import contested, submit
session, left = session_at(Path(sys.argv[1])), int(sys.argv[2])
world = contested("document", "calculation")
while left:
    submit(session, session.pending()[0], world)
    left -= 1
def killed(file):
    os.kill(os.getpid(), signal.SIGKILL)
os.fdatasync = killed
submit(session, session.pending()[0], world)
"""
"""Answers some steps, and is killed while it commits the next one: its bytes are there, and not acknowledged."""


@pytest.mark.parametrize("replies", mostly_slow([9, 13, 0, 5, 11], 2))
def test_a_killed_process_changes_nothing(tmp_path: Path, replies: int) -> None:
    path = tmp_path / "run"
    begin(path)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(replies)], env=environment, timeout=120, check=False
    )
    assert child.returncode == -signal.SIGKILL
    world = contested("document", "calculation")
    book = sound(play(session_at(path), world))
    assert _comes_to(book) == _comes_to(play(begin(tmp_path / "whole"), world))


def _comes_to(book: Book) -> tuple[object, ...]:
    (final,) = [one for one in book.of(Decision) if one.type == "final"]
    return final.text, final.about, standing.standing_at(book.state), set(book.state.answered)
