"""A run played from another run's tape asks for the same briefs and decides the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

from ledger.audit.verify import verify
from ledger.state.book import Book
from ledger.store.store import RunStore
from roles.seats.tape import TapeSeat
from rounds.run.driver import Drive, DriveEnd
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession, start
from rounds.run.verdicts import standard
from tests.rounds.openings import ROLES, begin, clock, opening, play, rows
from tests.rounds.scripted import Script


def _played(path: Path, tape: Book, question: str | None = None) -> tuple[RunSession, TapeSeat, DriveEnd]:
    event, blobs = opening(rows(2, absent={2: "observer"}))
    if question is not None:
        event = msgspec.structs.replace(event, question=question)
    session = start(path, event, blobs=blobs, files={}, verdicts=standard, clock=clock())
    seat = TapeSeat(tape)
    outcome = asyncio.run(Drive(session, dict.fromkeys(ROLES, seat), monotonic=lambda: 0.0).run())
    return session, seat, outcome


def test_a_tape_plays_to_the_same_decisions(tmp_path: Path) -> None:
    original = begin(tmp_path / "original", rows(2, absent={2: "observer"}))
    play(original, Script(seed=11))
    session, _, outcome = _played(tmp_path / "played", RunStore(tmp_path / "original").book())
    assert outcome.state == "finished"
    assert verify(tmp_path / "played").ok
    ours, theirs = session.book(), original.book()
    assert list(ours.by_id) == list(theirs.by_id)
    calls = [event.call for event in ours.events if event.call]
    assert {call.seat for call in calls} == {"tape"}
    assert {call.simulated for call in calls} == {"recorded"}
    assert re_execute(ours, session.protocol, session.controller).identical


def test_a_tape_of_another_question_says_what_differs(tmp_path: Path) -> None:
    original = begin(tmp_path / "original", rows(2, absent={2: "observer"}))
    play(original)
    session, _, outcome = _played(tmp_path / "played", original.book(), "Which colour?")
    assert outcome.state == "failed"
    assert "+question | Which colour?" in outcome.detail
    assert session.book().state.stopped_by == "seats_failed"


def test_a_tape_gives_up_what_was_given_up(tmp_path: Path) -> None:
    original = begin(tmp_path / "original", rows(2, absent={2: "observer"}))
    original.give_up("r1.B.action", "refused", "the seat would not answer")
    play(original)
    session, _, outcome = _played(tmp_path / "played", original.book())
    assert outcome.state == "finished"
    assert list(session.book().state.given_up) == ["r1.B.action"]
