"""A Book: all events of a run in memory with their state and an index of ids. What protocols, briefs and rules read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

import msgspec

from ledger.events import Event
from ledger.state.fold import fold
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
        found = [event for event in self.events if type(event) is kind]
        return tuple(found if round_ is None else [event for event in found if event.round == round_])


def book(events: Iterable[Event], blobs: Blobs) -> Book:
    """The book of `events`; of two events with the same id the first has it."""
    taken = tuple(events)
    by_id: dict[str, Event] = {}
    for event in taken:
        if event.id is not None:
            by_id.setdefault(event.id, event)
    return Book(taken, fold(taken), by_id, blobs)
