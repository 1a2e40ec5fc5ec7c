"""Book: all events of a run in memory with their state and an index of ids. Protocols, briefs and rules read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Final, Protocol, TypeVar

import msgspec

from ledger.events import Event
from ledger.state.fold import step
from ledger.state.state import State

E = TypeVar("E", bound=Event)
T = TypeVar("T")


class Blobs(Protocol):
    """Read access to the blobs of a run."""

    def read(self, sha256: str) -> bytes | None:
        """Return the bytes with that hash, None when the blob is missing."""
        ...


class Book(msgspec.Struct, frozen=True):
    """Events in order (seq = index), their folded state, and the index of ids.

    `facts` holds what functions marked `per_book` derived from it.
    """

    events: tuple[Event, ...]
    state: State
    by_id: Mapping[str, Event]
    blobs: Blobs
    facts: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])

    def of(self, kind: type[E], round_: int | None = None) -> tuple[E, ...]:
        """Return all events of one kind, in order, optionally of one round."""
        events = [event for event in self.events if type(event) is kind]
        return tuple(events if round_ is None else [event for event in events if event.round == round_])

    def first(self, count: int) -> Book:
        """Return the book of the first `count` events: itself when those are all."""
        return self if count >= len(self.events) else book(self.events[:count], self.blobs)


def per_book(derive: Callable[[Book], T]) -> Callable[[Book], T]:
    """Return `derive` so that it computes its fact once for each book; the fact is kept with the book."""
    name = f"{derive.__module__}.{derive.__qualname__}"

    @wraps(derive)
    def fact_of(book: Book) -> T:
        # A book that grew is another book, so a fact never outlives the events that it was derived from.
        if name not in book.facts:
            book.facts[name] = derive(book)
        fact: T = book.facts[name]
        return fact

    return fact_of


class GrowingBook:
    """Book that grows: every event is folded once, in place."""

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
                # IDS001 reports a repeated id. Keeping the first one means that a later event cannot take over
                # a reference.
                self.by_id.setdefault(event.id, event)
        self._book = None

    def book(self) -> Book:
        """Return the current book. Its state and ids go on growing: read what is needed before the next event."""
        if self._book is None:
            self._book = Book(tuple(self._events), self.state, self.by_id, self.blobs)
        return self._book


def book(events: Iterable[Event], blobs: Blobs) -> Book:
    """Return the book of `events`; of two events with the same id the first keeps it."""
    growing = GrowingBook(blobs)
    growing.take(events)
    return growing.book()


def with_next(before: Book, draft: Event) -> Book:
    """Return the book with one more event; `before` is left as it is."""
    following = msgspec.structs.replace(draft, seq=len(before.events))
    return book((*before.events, following), before.blobs)


def commits(events: Sequence[Event]) -> Iterator[tuple[Event, ...]]:
    """Yield events as they were committed; the last commit of a part may be cut short."""
    begin = 0
    for place, event in enumerate(events):
        if event.rest == 0 or place + 1 == len(events):
            yield tuple(events[begin : place + 1])
            begin = place + 1


def commit_end(events: Sequence[Event], seq: int) -> int:
    """Return the place after the commit that holds event `seq`."""
    return seq + events[seq].rest + 1
