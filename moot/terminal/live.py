"""Views of a run in progress: a live view on a terminal, plain lines elsewhere. A view never touches the run.

with watched(session.book, console, live=True) as watch:
    drive(session, seats, watch=watch, …)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ledger.events import Event, RoundOpened
from ledger.plain_text import one_line
from ledger.state.book import Book
from moot.terminal.live_layout import Stage
from moot.terminal.round_block import round_block
from moot.terminal.theme import labels_text, style_of
from moot.view import marks
from moot.view.event_lines import event_lines
from moot.view.labels import Label
from moot.view.round import tell_round
from moot.view.scene import scene_of
from moot.view.stop_checks import out_of_reach
from rounds.run.driver import Watch
from rounds.setup.size import asked_of

if TYPE_CHECKING:
    from roles.seats.port import Seat, SeatFailed
    from rounds.run.session import AskedStep

REFRESHES_PER_SECOND: Final = 4

Read = Callable[[], Book]
"""Returns the current events; called again after every commit."""
Clock = Callable[[], float]
"""Seconds on any clock that runs forward; where it is None, no durations are shown."""


class LiveView:
    """The current round in place at the bottom, finished rounds above it. `clock` measures how long a seat thinks."""

    def __init__(
        self,
        read: Read,
        console: Console,
        clock: Clock | None,
        labels: tuple[Label, ...],
        at_most: int | None = None,
    ) -> None:
        self._read, self._console, self._clock, self._labels = read, console, clock, labels
        self._at_most = at_most
        self._asked: dict[str, float] = {}
        self._book = read()
        # A resumed run prints only rounds that end from now on; earlier ones were printed before.
        self._printed = set(self._book.state.rounds) - {self._book.state.round}
        self._out_of_reach = False
        self._live = Live(
            get_renderable=self._stage,
            console=console,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            # Output of other code must go where it was sent: rich would print it into the live area.
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> LiveView:
        for text in labels_text(self._labels):
            self._console.print(text)
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        # Stopped before the last rounds are printed, which would else appear inside the live area.
        self._live.stop()
        self._tell_rounds(all_of_them=self._book.state.finished)

    def asked(self, step: str) -> None:
        """Note that a seat is asked to answer a step; the next refresh shows it."""
        # A new dict and no change in place: the refresh thread may be reading the old one.
        self._asked = {**self._asked, step: self._clock() if self._clock else 0.0}

    def lost(self, step: str) -> None:
        """Note that a step will not be answered."""
        self._asked = {name: since for name, since in self._asked.items() if name != step}

    def committed(self) -> None:
        """Read what is new on the ledger, and show it."""
        self._book = self._read()
        state = self._book.state
        self._asked = {step: since for step, since in self._asked.items() if not state.is_done(step)}
        self._tell_rounds(all_of_them=state.finished)
        self._live.refresh()

    def _tell_rounds(self, *, all_of_them: bool) -> None:
        """Print the rounds that are over above the live part, once each."""
        state = self._book.state
        planned = len(state.opened.plan) if state.opened else 0
        for round_ in sorted(set(state.rounds) - self._printed):
            if all_of_them or round_ < state.round:
                self._printed.add(round_)
                self._console.print(round_block(tell_round(self._book, round_), planned))
                # Said once: a plan that cannot become ready stays that way.
                if not self._out_of_reach and (warning := out_of_reach(self._book)):
                    self._out_of_reach = True
                    self._console.print(Text(warning, style_of(marks.FAILS)))

    def _stage(self) -> Stage | Text:
        if self._book.state.finished:
            return Text("")
        now = self._clock() if self._clock else None
        scene = scene_of(self._book, self._asked, now, self._labels)
        # One line stays free, or some terminals would scroll with every refresh.
        return Stage(scene, height=max(8, self._console.height - 1), at_most=self._at_most)


class PlainView:
    """One line for every event that matters, as it comes."""

    def __init__(
        self, read: Read, console: Console, labels: tuple[Label, ...], at_most: int | None = None
    ) -> None:
        self._read, self._console, self._labels, self._at_most = read, console, labels, at_most
        self._printed = 0
        self._out_of_reach = False

    def __enter__(self) -> PlainView:
        for label in self._labels:
            self._print(f"{label.kind} {one_line(label.text)}")
        state = self._read().state
        if state.answered:
            # A resumed run starts with one line instead of its whole history.
            self._printed = state.seq + 1
            self._print(f"goes on in round {state.round}, phase {state.phase}, after event {state.seq}")
        self.committed()
        return self

    def __exit__(self, *_: object) -> None:
        self.committed()

    def asked(self, step: str) -> None:
        """Ignore it: the answer will be a line."""

    def lost(self, step: str) -> None:
        """Ignore it: the fallback will be a line."""

    def committed(self) -> None:
        """Print what is new."""
        book = self._read()
        # A commit may hold several events, and some of them print several lines.
        for event in book.events[self._printed :]:
            for line in event_lines(book, event):
                self._print(line)
            if isinstance(event, RoundOpened) and book.state.answered and self._at_most:
                self._print(f"{len(book.state.answered)} of at most {self._at_most} replies so far")
            if isinstance(event, RoundOpened) and not self._out_of_reach and (warning := out_of_reach(book)):
                self._out_of_reach = True
                self._print(warning)
        self._printed = len(book.events)

    def _print(self, line: str) -> None:
        self._console.out(line, highlight=False)


def replies_of(book: Book) -> int | None:
    """Return the most replies that a run asks for; None for an import, whose steps are another system's."""
    return None if book.state.is_import else asked_of(book.state.opening).total()


View = LiveView | PlainView


def view_of(
    read: Read,
    console: Console,
    *,
    live: bool = True,
    clock: Clock | None = time.monotonic,
    labels: tuple[Label, ...] = (),
    at_most: int | None = None,
) -> View:
    """Return the fitting view: live on a terminal that can be drawn on, plain elsewhere or if `live` is false.

    `at_most`: the replies of the whole run, to show progress against them.
    """
    # FORCE_COLOR makes rich take a pipe for a terminal, so the file itself is asked too.
    drawable = console.is_terminal and console.file.isatty() and not console.is_dumb_terminal
    if live and drawable:
        return LiveView(read, console, clock, labels, at_most)
    return PlainView(read, console, labels, at_most)


@contextmanager
def watched(
    read: Read,
    console: Console,
    *,
    live: bool = True,
    clock: Clock | None = time.monotonic,
    labels: tuple[Label, ...] = (),
) -> Generator[Watch]:
    """Yield a driver's watch that shows the run while the block lasts."""
    at_most = replies_of(read())
    with view_of(read, console, live=live, clock=clock, labels=labels, at_most=at_most) as view:
        yield watch_of(view)


def watch_of(view: View) -> Watch:
    """Return a view as a driver's watch."""

    def asked(row: AskedStep, _: Seat) -> None:
        view.asked(row.step.id)

    def committed(_: tuple[Event, ...]) -> None:
        view.committed()

    def lost(step: str, _: SeatFailed) -> None:
        view.lost(step)

    return Watch(asked=asked, committed=committed, lost=lost)
