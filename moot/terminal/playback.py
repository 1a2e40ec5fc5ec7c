"""Playback of a recorded run: which steps are asked next, and how long to pause between commits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from ledger.events import Event
from ledger.state.book import GrowingBook
from moot.terminal.live import View
from roles.protocol import Protocol, open_steps

SECONDS_MAX: Final = 15.0
"""Duration of a whole run at speed 1, whatever its length."""
PAUSE_SECONDS_MAX: Final = 0.5


def recorded_seconds(growing: GrowingBook) -> float:
    """Return the time of the last event as a clock, which does not move between two commits."""
    events = growing.book().events
    return datetime.fromisoformat(events[-1].at).timestamp() if events else 0.0


def player(
    growing: GrowingBook,
    view: View,
    protocol: Protocol,
    *,
    pause: Callable[[], None],
) -> Callable[[Sequence[Event]], None]:
    """Return a function that takes commits, shows them, marks the steps asked next, and pauses."""

    asked: set[str] = set()

    def play(events: Sequence[Event]) -> None:
        # The book grows before the view is notified, because the view reads it.
        growing.take(events)
        for step in open_steps(protocol, growing.book().state):
            # A step stays open over several commits, and its clock must not start again with each.
            if step.id not in asked:
                asked.add(step.id)
                view.asked(step.id)
        view.committed()
        pause()

    return play


def pause_seconds(commits: int, speed: float) -> float:
    """Return the pause in seconds after each commit; 0 when speed is 0 (as fast as possible)."""
    if speed <= 0 or commits <= 0:
        return 0.0
    # A short run pauses at most half a second per commit, a long one is played in 15 s.
    return min(PAUSE_SECONDS_MAX, SECONDS_MAX / commits) / speed
