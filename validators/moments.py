"""Moments: the book as it was when a step opened and when it was answered, for rules that fold as they go.

These walks are for rules that run the protocol again, as far as the recorded rules reported no error: its functions
may assume a lawful book. A moment's book changes with the next moment, so read it at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ledger.events import Event
from ledger.state import book as books
from ledger.state.book import Book, GrowingBook
from roles.asof import behind_owed
from roles.protocol import Group, Protocol, Step, find_group, open_group
from validators.finding import Breach
from validators.ledger_index import LedgerIndex, is_reply


class Moment(msgspec.Struct, frozen=True):
    """First event of a reply, the step and group that it answers, and the book at that moment."""

    event: Event
    step: Step
    group: Group
    book: Book


def answered(index: LedgerIndex, protocol: Protocol) -> Iterator[Moment]:
    """Yield the moment just before every reply to a step that the protocol knows there."""
    through = min(index.openings.known_through, index.sound_through())
    group: Group | None = None
    for event, alive in _walk(index):
        if event.seq > through:
            return
        if is_reply(event) and alive.state.round in alive.state.rounds:
            # Replies of one group follow each other, so the protocol is asked for a group once and not once per
            # reply.
            if group is None or all(step.id != event.step for step in group.steps):
                group = find_group(protocol, alive.state, event.step or "")
            for step in group.steps if group else ():
                if step.id == event.step and group is not None:
                    yield Moment(event, step, group, alive.book())


def opened(index: LedgerIndex, protocol: Protocol) -> Iterator[Moment]:
    """Yield the moment at which each answered step had opened, with everything that the controller owed by then."""
    sound = index.sound_through()
    replies = {event.step: event for event in index.events if is_reply(event) and event.seq <= sound}
    waiting: dict[int, set[str]] = {}
    for step_id, through in index.openings.of.items():
        if step_id in replies:
            # A brief is derived after what the controller owed at that point, such as its verdicts on
            # inapplicable checks.
            waiting.setdefault(behind_owed(index.events, through + 1), set()).add(step_id)
    for event, alive in _walk(index):
        group = open_group(protocol, alive.state) if event.seq in waiting else None
        for step in group.steps if group is not None else ():
            if step.id in waiting[event.seq] and group is not None and not alive.state.is_done(step.id):
                yield Moment(replies[step.id], step, group, alive.book())


def commits(index: LedgerIndex) -> Iterator[tuple[tuple[Event, ...], Book]]:
    """Yield (its events, the book before it) of every commit in which the recorded rules reported no error."""
    through = min(index.openings.known_through, index.sound_through())
    alive = GrowingBook(index.book.blobs)
    for commit in books.commits(index.events[: through + 1]):
        # The last commit may be cut off by the limit, and half a commit cannot be compared with what was due.
        if commit[-1].rest == 0:
            yield commit, alive.book()
            alive.take(commit)


def unjudged(index: LedgerIndex) -> Iterator[Breach]:
    """Yield a warning when replies follow an event where the ledger is broken: the protocol is not run on that."""
    sound = index.sound_through()
    if any(is_reply(event) and event.seq > sound for event in index.events):
        yield Breach(
            sound + 1, f"not judged from event {sound + 1} on, where other rules are broken", "warning"
        )


def _walk(index: LedgerIndex) -> Iterator[tuple[Event, GrowingBook]]:
    """Yield each event with the growing book before it."""
    alive = GrowingBook(index.book.blobs)
    for event in index.events:
        yield event, alive
        alive.take((event,))
