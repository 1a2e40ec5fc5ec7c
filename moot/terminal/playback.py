"""A recorded run shown again at a pace of one's own: the book as it grows, and how long to pause between commits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from ledger.events import Event
from ledger.state.book import Blobs, Book
from ledger.state.book import book as book_of
from ledger.state.fold import fold
from ledger.state.state import State
from moot.terminal.live import View
from roles.protocol import Protocol, open_steps

SECONDS_MAX: Final = 15.0
"""How long a whole run takes at speed 1, whatever its length."""
PAUSE_SECONDS_MAX: Final = 0.5


class Growing:
    """The ledger of a run that is played, as far as it was played."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._state = State()
        self._events: list[Event] = []
        self._by_id: dict[str, Event] = {}

    def take(self, events: Sequence[Event]) -> None:
        """Add the events of a commit."""
        self._events += events
        for event in events:
            if event.id is not None:
                self._by_id.setdefault(event.id, event)
        fold(events, self._state)

    def book(self) -> Book:
        """What stands now. It goes on growing: take what is needed before the next commit."""
        if not self._events:
            return book_of((), self._blobs)
        return Book(tuple(self._events), self._state, self._by_id, self._blobs)

    def recorded_seconds(self) -> float:
        """The instant of the last event, as a clock: between two commits it stands still."""
        return datetime.fromisoformat(self._events[-1].at).timestamp() if self._events else 0.0


def player(
    growing: Growing,
    view: View,
    protocol: Protocol,
    *,
    pause: Callable[[], None],
) -> Callable[[Sequence[Event]], None]:
    """A function that takes commits, shows them, marks who is asked next, and pauses."""

    asked: set[str] = set()

    def play(events: Sequence[Event]) -> None:
        growing.take(events)
        for step in open_steps(protocol, growing.book().state):
            if step.id not in asked:
                asked.add(step.id)
                view.asked(step.id)
        view.committed()
        pause()

    return play


def pause_seconds(commits: int, speed: float) -> float:
    """The pause after each of so many commits; 0 when speed is 0 (as fast as it goes)."""
    if speed <= 0 or commits <= 0:
        return 0.0
    return min(PAUSE_SECONDS_MAX, SECONDS_MAX / commits) / speed
