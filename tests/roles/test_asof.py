"""Told event by event, or looked up for one step: a step opened at the same place."""

from __future__ import annotations

import pytest

from ledger.state.book import Book
from ledger.state.fold import step as take
from ledger.state.state import State
from ledger.store.store import RunStore
from roles.asof import Openings, after_owed, at_opening, stands_for
from roles.protocol import Protocol, Step, find_step
from rounds.protocols import protocol_of
from tests.recorded import recorded_names, run_of


def _openings(book: Book, protocol: Protocol) -> Openings:
    openings, state = Openings(protocol, book.state.opened), State()
    for event in book.events:
        openings.before(event, state)
        take(state, event)
        openings.after(event, state)
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
        assert len(at_opening(book, protocol, step).events) == after_owed(book.events, through + 1), step.id
    return steps


@pytest.mark.parametrize("name", recorded_names())
def test_of_a_recorded_run(name: str) -> None:
    book = RunStore(run_of(name)).book()
    assert _agree(book, protocol_of(book.state.opening))
