"""Told event by event, or looked up for one step: a step opened at the same place."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ledger.state.book import Book
from ledger.state.fold import step as take
from ledger.state.state import State
from ledger.store.store import RunStore
from roles.asof import Openings, at_opening, behind_owed, stands_for, status_at_opening
from roles.protocol import Protocol, Step, find_step
from rounds.protocols import protocol_of
from rounds.run.session import start
from rounds.run.verdicts import standard
from tests.recorded import recorded
from tests.rounds.openings import clock, opening, play, rows


def _openings(book: Book, protocol: Protocol) -> Openings:
    openings, state = Openings(protocol, book.state.opened), State()
    for event in book.events:
        openings.before(event, state)
        take(state, event)
        openings.behind(event, state)
    return openings


def _steps(book: Book, protocol: Protocol) -> list[Step]:
    answered = book.state.answered.items()
    found = [find_step(protocol, book.first(seq).state, step_id) for step_id, seq in answered]
    return [step for step in found if step is not None]


def _agree(book: Book, protocol: Protocol) -> list[Step]:
    openings, steps = _openings(book, protocol), _steps(book, protocol)
    for step in steps:
        through = stands_for(openings.of, step.id)
        assert through is not None
        assert len(at_opening(book, protocol, step).events) == behind_owed(book.events, through + 1), step.id
    return steps


@pytest.mark.parametrize("path", recorded())
def test_of_a_recorded_run(path: Path) -> None:
    book = RunStore(path).book()
    assert _agree(book, protocol_of(book.state.opening))


def test_a_repeated_step_is_answered_later_and_stands_on_what_its_first_attempt_stood_on(
    tmp_path: Path,
) -> None:
    event, blobs = opening(rows(2), profile="calibrated")
    event = msgspec.structs.replace(event, rules={**event.rules, "rejudge": "2"})
    session = start(
        tmp_path / "run", event, blobs=blobs, files={}, verdicts=standard, clock=clock(), sync=False
    )
    assert play(session).state == "finished"
    book, protocol = session.book(), session.protocol
    again = [step for step in _agree(book, protocol) if step.name.repeat > 1]
    assert again
    openings = _openings(book, protocol)
    for step in again:
        through = stands_for(openings.of, step.id)
        assert through is not None
        assert through < openings.of[step.id]
        stood = at_opening(book, protocol, step).state.claims
        for claim, facts in stood.items():
            assert facts.status == status_at_opening(book.state, claim, step)
