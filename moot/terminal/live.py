"""Views of a run in progress, also of one played again: a live view on a terminal, plain lines elsewhere.

A view never touches the run. A finished round stays on the screen with its verdicts in words.

with watched(session.book, console, live=True) as watch:
    Drive(session, seats, monotonic, watch).run()
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ledger.events import Event, RoundOpened
from ledger.plain_text import counted, first_sentence, one_line
from ledger.state.book import Book, GrowingBook
from moot.terminal import theme
from moot.terminal.stage import Stage, round_title
from moot.terminal.theme import labels_text, style_of
from moot.view import marks, words
from moot.view.claims import DecisionView
from moot.view.event_lines import event_lines
from moot.view.labels import Label
from moot.view.marks import mark_of
from moot.view.round import READINGS, CheckView, RoundView, tell_round
from moot.view.stop_checks import out_of_reach
from moot.view.story import scene_of
from roles.protocol import Protocol, open_steps
from rounds.run.driver import Watch
from rounds.setup.size import replies_of

REFRESHES_PER_SECOND: Final = 4

Read = Callable[[], Book]
"""Returns the current events; called again after every commit."""
Clock = Callable[[], float]
"""Seconds on any clock that runs forward."""


class LiveView:
    """The current round in place at the bottom, finished rounds above it. `clock` measures how long a seat thinks."""

    def __init__(
        self,
        read: Read,
        console: Console,
        clock: Clock,
        labels: tuple[Label, ...],
        at_most: int | None = None,
    ) -> None:
        self._read, self._console, self._clock, self._labels = read, console, clock, labels
        self._at_most = at_most
        self._started: dict[str, float] = {}
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

    def started(self, step: str) -> None:
        """Note that a seat is asked to answer a step; the next refresh shows it."""
        # A new dict and no change in place: the refresh thread may be reading the old one.
        self._started = {**self._started, step: self._clock()}

    def lost(self, step: str) -> None:
        """Note that a step will not be answered."""
        self._started = {name: since for name, since in self._started.items() if name != step}

    def committed(self) -> None:
        """Read what is new on the ledger, and show it."""
        self._book = self._read()
        state = self._book.state
        self._started = {step: since for step, since in self._started.items() if not state.is_done(step)}
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
        scene = scene_of(self._book, self._started, self._clock(), self._labels)
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

    def started(self, step: str) -> None:
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


def most_replies(book: Book) -> int | None:
    """Return the most replies that a run asks for; None for an import, whose steps are another system's."""
    return None if book.state.is_import else replies_of(book.state.opening).total()


View = LiveView | PlainView


def view_of(
    read: Read,
    console: Console,
    *,
    live: bool = True,
    clock: Clock = time.monotonic,
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
) -> Generator[Watch]:
    """Yield a driver's watch that shows the run while the block lasts."""
    with view_of(read, console, live=live, at_most=most_replies(read())) as view:
        yield Watch(
            started=lambda row, _: view.started(row.step.id),
            committed=lambda _: view.committed(),
            lost=lambda step, _: view.lost(step),
        )


SECONDS_MAX: Final = 15.0
"""Duration of a whole run that is played again at speed 1, whatever its length."""
PAUSE_SECONDS_MAX: Final = 0.5


def recorded_seconds(growing: GrowingBook) -> float:
    """Return the time of the last event as a clock, which does not move between two commits."""
    events = growing.book().events
    return datetime.fromisoformat(events[-1].at).timestamp() if events else 0.0


def pause_seconds(commits: int, speed: float) -> float:
    """Return the pause in seconds after each commit; 0 when speed is 0 (as fast as possible)."""
    if speed <= 0 or commits <= 0:
        return 0.0
    # A short run pauses at most half a second per commit, a long one is played in 15 s.
    return min(PAUSE_SECONDS_MAX, SECONDS_MAX / commits) / speed


def player(
    growing: GrowingBook, view: View, protocol: Protocol, *, pause: Callable[[], None]
) -> Callable[[Sequence[Event]], None]:
    """Return a function that takes commits of a recorded run, shows them, marks the steps asked next, and pauses."""
    seen: set[str] = set()

    def play(events: Sequence[Event]) -> None:
        # The book grows before the view is notified, because the view reads it.
        growing.take(events)
        for step in open_steps(protocol, growing.book().state):
            # A step stays open over several commits, and its clock must not start again with each.
            if step.id not in seen:
                seen.add(step.id)
                view.started(step.id)
        view.committed()
        pause()

    return play


def round_block(summary: RoundView, planned: int) -> RenderableType:
    """Return the summary of a round."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, style=theme.FAINT, width=9)
    table.add_column(ratio=1)
    for word, text in _rows(summary):
        table.add_row(word, text)
    title = Rule(round_title(summary, planned), align="left", style="dim")
    return Group(title, Padding(table, (0, 0, 0, 1)))


def _rows(summary: RoundView) -> Iterator[tuple[str, Text]]:
    for fallback in summary.fallbacks:
        yield "fallback", Text(f"▲ {fallback.step_failed} given up: {one_line(fallback.detail)}", "bold red")
    for check in summary.checks:
        if check.check_id <= 4:
            yield f"check {check.check_id}", _check(check)
    for product in summary.products:
        if product.kind == "retrospective":
            yield "look back", Text(f"{product.role}: {first_sentence(product.text)}")
    # Checks above 4 settle single claims: there may be dozens, so they are only counted.
    resolved = [check for check in summary.checks if check.check_id > 4]
    if resolved:
        yield "resolved", Text(f"{len(resolved)} pending claims")
    if summary.claims:
        ids = " ".join(
            f"{claim.id} {mark_of(marks.STATUSES, claim.status).shape}" for claim in summary.claims
        )
        yield "claims", Text(f"{len(summary.claims)} new   {ids}")
    for concern in summary.concerns:
        yield concern.type, Text(f"{concern.id} {one_line(concern.text)}")
    for decision in summary.decisions:
        cites = ", ".join(ground.id for ground in decision.rests_on)
        line = Text.assemble(
            (decision.id, "bold"), f" {one_line(decision.text)}", (f"  ({cites})", theme.FAINT)
        )
        if not decision.in_force:
            line.append(f"  {decision.standing}", "bold red")
        yield _word(decision), line
    if summary.drift is not None:
        mark = mark_of(marks.DRIFT, summary.drift.verdict)
        yield "drift", theme.text_of(mark).append(f"  {one_line(summary.drift.notes)}", "default")
    for seen in summary.signature:
        agrees = READINGS[seen.agrees]
        yield "absence", Text(f"predicted: {seen.predicted}; observed: {seen.observed} ({agrees})")
    yield from _verdicts_of_controller(summary)


def _word(decision: DecisionView) -> str:
    """Return the word before a decision; one that was overturned is not called decided."""
    if not decision.in_force:
        return "replaced"
    return decision.type if decision.type in ("final", "override", "answer") else "decided"


def _verdicts_of_controller(summary: RoundView) -> Iterator[tuple[str, Text]]:
    if summary.validated is not None and any(summary.validated):
        errors, warnings = summary.validated
        style = "bold red" if errors else theme.FAINT
        yield "rules", Text(f"{counted(errors, 'error')}, {counted(warnings, 'warning')}", style)
    if summary.look is not None:
        advice = mark_of(marks.ADVICE, summary.look.advice)
        yield (
            "signals",
            Text(f"{summary.look.satisfied} of {summary.look.of}  ").append_text(theme.text_of(advice)),
        )
    for alarm in summary.alarms:
        mark = marks.ALARMS[alarm.verdict] if alarm.action == "raised" else marks.ALARMS["CLEAR"]
        yield (
            "alarm",
            Text(
                f"{mark.plain} {words.failure(alarm.fm)}: {one_line(alarm.because or '')}",
                theme.style_of(mark),
            ),
        )
    for amendment in summary.amendments:
        yield "amended", Text(f"{amendment.what}: {one_line(amendment.reason)}")


def _check(check: CheckView) -> Text:
    mark = mark_of(marks.RESULTS, check.result)
    line = theme.text_of(mark)
    # Roles that predicted another verdict are named: dissent is what a reader looks for in a finished round.
    differ = [stance for stance in check.stances if stance.stance != check.result]
    if check.stances:
        line.append(f" ({len(check.stances) - len(differ)} of {len(check.stances)} had said so)", theme.FAINT)
    line.append(f"  {one_line(check.notes)}", "default")
    for moved in check.moved:
        if moved.to is not None:
            after = mark_of(marks.STATUSES, moved.to)
            line.append(f"  {moved.claim} → {after.plain}", theme.style_of(after))
    for stance in differ:
        if stance.flipped_to:
            why = "" if stance.because else ", no new evidence"
            line.append(f"  {stance.role} flips to {stance.flipped_to}{why}", "yellow")
    return line
