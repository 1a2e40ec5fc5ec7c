"""The book as it stood when a step opened and when it was answered: walks that fold as they go.

For rules that run the protocol again, as far as the recorded rules found no error: its functions
may assume a lawful book. A moment's book is alive: it is what stood then only until the next moment.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ledger.events import Event
from ledger.state.book import Book
from ledger.state.fold import step as take
from ledger.state.state import State
from roles.asof import behind_owed
from roles.protocol import Group, Protocol, Step, find_group, open_group
from validators.docket import Docket, is_reply
from validators.finding import Breach


class Moment(msgspec.Struct, frozen=True):
    """A reply's first event, the step and group that it answers, and the book at the moment."""

    event: Event
    step: Step
    group: Group
    book: Book


def answered(docket: Docket, protocol: Protocol) -> Iterator[Moment]:
    """Just before every reply to a step that the protocol knows there."""
    through = min(docket.known_through, docket.sound_through())
    group: Group | None = None
    for place, event, book in _walk(docket):
        if event.seq > through:
            return
        if is_reply(event) and book.state.round in book.state.rounds:
            if group is None or all(step.id != event.step for step in group.steps):
                group = find_group(protocol, book.state, event.step or "")
            for step in group.steps if group else ():
                if step.id == event.step and group is not None:
                    yield Moment(event, step, group, _at(book, docket, place))


def opened(docket: Docket, protocol: Protocol) -> Iterator[Moment]:
    """When each step that was answered had opened, with all that the controller owed by then."""
    sound = docket.sound_through()
    replies = {event.step: event for event in docket.events if is_reply(event) and event.seq <= sound}
    waiting: dict[int, set[str]] = {}
    for step_id, through in docket.openings.items():
        if step_id in replies:
            waiting.setdefault(behind_owed(docket.events, through + 1), set()).add(step_id)
    for place, _, book in _walk(docket):
        group = open_group(protocol, book.state) if place in waiting else None
        for step in group.steps if group is not None else ():
            if step.id in waiting[place] and group is not None and not book.state.is_done(step.id):
                yield Moment(replies[step.id], step, group, _at(book, docket, place))


def commits(docket: Docket) -> Iterator[tuple[tuple[Event, ...], Book]]:
    """(its events, the book before it) of every commit that the recorded rules found no error in."""
    through = min(docket.known_through, docket.sound_through())
    for place, event, book in _walk(docket):
        is_first = place == 0 or docket.events[place - 1].rest == 0
        if is_first and event.seq + event.rest <= through:
            yield docket.events[place : place + event.rest + 1], _at(book, docket, place)


def unjudged(docket: Docket) -> Iterator[Breach]:
    """A warning when replies stand behind an event where the ledger is broken: a protocol is not run on that."""
    sound = docket.sound_through()
    if any(is_reply(event) and event.seq > sound for event in docket.events):
        yield Breach(
            sound + 1, f"not judged from event {sound + 1} on, where other rules are broken", "warning"
        )


def _walk(docket: Docket) -> Iterator[tuple[int, Event, Book]]:
    """(place, event, book before it); the book's own events are not cut."""
    state = State()
    by_id: dict[str, Event] = {}
    alive = Book(docket.events, state, by_id, docket.book.blobs)
    for place, event in enumerate(docket.events):
        yield place, event, alive
        take(state, event)
        if event.id is not None:
            by_id.setdefault(event.id, event)


def _at(alive: Book, docket: Docket, place: int) -> Book:
    return Book(docket.events[:place], alive.state, alive.by_id, alive.blobs)
