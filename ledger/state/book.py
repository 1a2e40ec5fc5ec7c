"""A Book: all events of a run in memory with their state and an index of ids. What protocols, briefs and rules read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeVar

import msgspec

from ledger.events import Event
from ledger.state.fold import step
from ledger.state.state import State

E = TypeVar("E", bound=Event)


class Blobs(Protocol):
    """Read access to the blobs of a run."""

    def read(self, sha256: str) -> bytes | None:
        """The bytes with that hash, None when the blob is not there."""
        ...


class Book(msgspec.Struct, frozen=True):
    """Events in order (seq = index), what they fold to, and who has which id."""

    events: tuple[Event, ...]
    state: State
    by_id: Mapping[str, Event]
    blobs: Blobs

    def of(self, kind: type[E], round_: int | None = None) -> tuple[E, ...]:
        """All events of one kind, in order, of one round when given."""
        events = [event for event in self.events if type(event) is kind]
        return tuple(events if round_ is None else [event for event in events if event.round == round_])

    def first(self, count: int) -> Book:
        """The book of the first so many events: itself when that is all of them."""
        return self if count >= len(self.events) else book(self.events[:count], self.blobs)


class GrowingBook:
    """A book that grows: every event is folded once, in place."""

    def __init__(self, blobs: Blobs) -> None:
        self.blobs: Final = blobs
        self.state: Final = State()
        self.by_id: Final = dict[str, Event]()
        self._events: list[Event] = []
        self._book: Book | None = None

    def take(self, events: Iterable[Event]) -> None:
        """Take in what follows; of two events with the same id the first has it."""
        for event in events:
            step(self.state, event)
            self._events.append(event)
            if event.id is not None:
                self.by_id.setdefault(event.id, event)
        self._book = None

    def book(self) -> Book:
        """What stands now. Its state and ids go on growing: take what is needed before the next event."""
        if self._book is None:
            self._book = Book(tuple(self._events), self.state, self.by_id, self.blobs)
        return self._book


def book(events: Iterable[Event], blobs: Blobs) -> Book:
    """The book of `events`; of two events with the same id the first has it."""
    growing = GrowingBook(blobs)
    growing.take(events)
    return growing.book()


def with_next(before: Book, draft: Event) -> Book:
    """The book as it would be with one more event; `before` is left as it is."""
    following = msgspec.structs.replace(draft, seq=len(before.events))
    return book((*before.events, following), before.blobs)


def commits(events: Sequence[Event]) -> Iterator[tuple[Event, ...]]:
    """Events as they were committed; the last commit of a part may be cut short."""
    begin = 0
    for place, event in enumerate(events):
        if event.rest == 0 or place + 1 == len(events):
            yield tuple(events[begin : place + 1])
            begin = place + 1


def commit_end(events: Sequence[Event], seq: int) -> int:
    """The place behind the commit that holds event `seq`."""
    return seq + events[seq].rest + 1
