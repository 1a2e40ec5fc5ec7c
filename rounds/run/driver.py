"""The automatic run: ask every open step's seat, commit replies as they arrive, until the run ends or must wait.

It keeps no state of its own but the calls in flight, so a driver killed at any instant is replaced by another,
which asks only for the steps that have no event yet (DESIGN 4). How it ends when something fails:

    a step's seat refuses it twice              the step is given up, the run goes on
    a seat fails, another one still answers     the same, and the seat's later steps are given up without asking
    no seat answers any more                    stopped, resumable: seats_failed
    a budget has no room for the next attempt   calls in flight end, then stopped, resumable: budget_…
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event as Flag
from typing import Final, Literal

from ledger.events import Event
from ledger.events.run import CloseReason
from roles.protocol import Step, awaited_experiments, open_steps
from roles.seats.port import Closable, Metered, Seat, SeatFailed, SeatWaits
from rounds.experiments.bench import Bench
from rounds.run.budget import Reservations, used_up
from rounds.run.experiments import conduct
from rounds.run.human_actions import go_on
from rounds.run.retries import BudgetReached, CallLimits, Ending, RateLimit, RetryPolicy, StepLost, answered
from rounds.run.session import PendingStep, RunSession, StepRefused

CALLS_AT_ONCE: Final = 8
SYNTHESIS: Final = "S"
Pause = Literal["round", "phase"]
"""Where a drive ends and leaves the open steps to the next one."""


@dataclass(frozen=True, slots=True)
class DriveEnd:
    """End of a drive. `waiting` are open steps without a seat here; `detail` names what failed."""

    state: Literal["finished", "waiting", "paused", "stopped", "failed"]
    reason: CloseReason | None = None
    waiting: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Watch:
    """Callbacks of a running driver: a step starts, a piece of its reply came, commits, a step was lost."""

    started: Callable[[PendingStep, Seat], object] = lambda _pending, _seat: None
    committed: Callable[[tuple[Event, ...]], object] = lambda _events: None
    lost: Callable[[str, SeatFailed], object] = lambda _step, _failure: None
    words: Callable[[str, str], object] = lambda _step, _words: None


@dataclass(eq=False)
class Drive:
    """A drive of a run: until it is finished, a budget is used up, or only outside seats are open.

    `bench` runs the experiments that the run waits for; without one it goes on waiting for them. `pause` ends
    the drive, and writes nothing, where the round or phase of the first open step ends.
    `staggered`: of the steps of a group that share a caching seat, one goes first, the others at its first byte.
    """

    session: RunSession
    seats: Mapping[str, Seat]
    monotonic: Callable[[], float]
    watch: Watch = field(default_factory=Watch)
    calls_at_once: int = CALLS_AT_ONCE
    reservations: Reservations = field(default_factory=Reservations)
    retry: RetryPolicy | None = None
    staggered: bool = True
    bench: Bench | None = None
    pause: Pause | None = None

    def __post_init__(self) -> None:
        self._began = self.monotonic()
        self._limits = CallLimits(self.session, self.reservations, self.retry or RetryPolicy())
        self._stretch: tuple[int, str] | None = None
        """Round and phase of the steps that this drive answers, as far as it pauses between them."""
        self._slots = asyncio.Semaphore(self.calls_at_once)
        # By identity: two roles may share one seat object, and then they share its rate limit as well.
        self._rates = {id(seat): RateLimit(self.calls_at_once) for seat in self.seats.values()}
        self._failing: dict[int, SeatFailed] = {}
        """Seats whose last step failed for want of an answer; those that are `gone` stay here."""
        self._flying: dict[str, asyncio.Task[None]] = {}
        self._waiting: set[str] = set()
        self._ending: DriveEnd | None = None

    async def run(self) -> DriveEnd:
        """Drive the run to its end, or to where it has to wait."""
        # A driver that was killed between two commits may have left some of the controller's work undone.
        self.watch.committed(self.session.settle())
        try:
            while True:
                outcome = self._launch()
                # Only an idle driver runs experiments: replies in flight may still change which
                # of them are due.
                if not self._flying:
                    if outcome.state == "waiting" and await self._experiments():
                        continue
                    return outcome
                await asyncio.wait(
                    self._flying.values(),
                    return_when=asyncio.FIRST_COMPLETED,
                    timeout=self._seconds_left(),
                )
                # The time limit cancels calls in flight; their steps stay open and
                # their reservations stay counted.
                if self._seconds_left() == 0:
                    await self._cancel()
                self._collect()
        finally:
            # Also after an error or Ctrl-C: an abandoned task would leave a child process
            # or a connection behind.
            await self._cancel()
            for seat in {id(seat): seat for seat in self.seats.values()}.values():
                if isinstance(seat, Closable):
                    await seat.close()

    async def _experiments(self) -> bool:
        """Run the experiments that the run waits for; return whether there were any."""
        # The flag ends the sandboxed program when this task is cancelled. Nothing is recorded then.
        state = self.session.book().state
        due = awaited_experiments(self.session.protocol, state)
        if self.bench is None or not due:
            return False
        ends = Flag()
        running = conduct(self.session, self.bench, due[0], is_interrupted=ends.is_set)
        try:
            # A thread, because the sandbox blocks; the event loop must go on to notice
            # signals and time limits.
            while (written := await asyncio.to_thread(next, running, None)) is not None:
                self.watch.committed(written)
        finally:
            ends.set()
        return True

    def _seconds_left(self) -> float | None:
        minutes = self.session.book().state.limits.minutes
        return None if minutes is None else max(0.0, minutes * 60 - (self.monotonic() - self._began))

    async def _cancel(self) -> None:
        for task in self._flying.values():
            task.cancel()
        # Exceptions are collected and dropped: the reason for the end is known already.
        await asyncio.gather(*self._flying.values(), return_exceptions=True)

    def _launch(self) -> DriveEnd:
        """Start what can run; the outcome counts when nothing is in flight."""
        state = self.session.book().state
        if state.closing is not None and state.finished:
            return DriveEnd("finished", state.closing.reason)
        exhausted = used_up(state, (self.monotonic() - self._began) / 60)
        if exhausted is not None:
            self._end(DriveEnd("stopped", exhausted))
        # The run is stopped only when nothing is in flight, because a reply that still arrives is
        # paid for and kept.
        if self._ending is not None:
            if not self._flying and self._ending.reason is not None:
                self.watch.committed(self.session.stop(self._ending.reason, self._ending.detail))
            return self._ending
        # A run that was stopped before goes on only when there really is a step to ask, or it would
        # be opened for nothing.
        steps = open_steps(self.session.protocol, state)
        if self._is_over(steps):
            return DriveEnd("paused", waiting=tuple(step.id for step in steps))
        if any(step.id not in self._flying for step in steps):
            if state.stopped_by is not None:
                self.watch.committed(go_on(self.session))
            self._start(
                [
                    pending
                    for pending in self.session.pending()
                    if pending.step.id not in self._flying and pending.step.id not in self._waiting
                ]
            )
        if not steps and state.stopped_by is not None:
            if self.bench is None or not awaited_experiments(self.session.protocol, state):
                return DriveEnd("stopped", state.stopped_by)
            self.watch.committed(go_on(self.session))
        return DriveEnd("waiting", waiting=tuple(step.id for step in steps))

    def _is_over(self, steps: Sequence[Step]) -> bool:
        """Return whether the open steps belong to another round or phase than those that this drive began with."""
        if self.pause is None or not steps:
            return False
        name = steps[0].name
        # The synthesis follows a round without opening another one, and a person who pauses wants to look before it.
        phase = name.phase if self.pause == "phase" or name.phase == SYNTHESIS else ""
        self._stretch = self._stretch or (name.round, phase)
        return self._stretch != (name.round, phase)

    def _start(self, open_now: list[PendingStep]) -> None:
        """Ask open steps; where a prompt's beginning is cached, the first goes ahead of its siblings."""
        ahead: dict[int, asyncio.Event] = {}
        for pending in open_now:
            seat = self.seats[pending.step.role]
            # The vendor's cache holds a prefix only once its first response has begun; siblings sent at once
            # would all pay full.
            heard = asyncio.Event()
            first = ahead.get(id(seat))
            if first is None and self.staggered and isinstance(seat, Metered) and seat.caches:
                ahead[id(seat)] = heard
            self._flying[pending.step.id] = asyncio.create_task(self._ask(pending, seat, first, heard))

    def _end(self, outcome: DriveEnd) -> None:
        """Stop asking; what is in flight may still be answered."""
        if self._ending is None:
            self._ending = outcome
        # Steps that wait for budget room are woken, or they would sleep until every other call has ended.
        self._limits.ends = True
        self._limits.settled.set()

    def _collect(self) -> None:
        for step, task in list(self._flying.items()):
            if task.done():
                del self._flying[step]
                if not task.cancelled():
                    # `result` raises what the task raised; an error of the driver itself
                    # must not be swallowed.
                    task.result()

    async def _ask(
        self, pending: PendingStep, seat: Seat, first: asyncio.Event | None, heard: asyncio.Event
    ) -> None:
        try:
            if first is not None:
                await first.wait()
            async with self._slots:
                await self._ask_now(pending, seat, heard)
        # Siblings wait for this event; it is set on failure too, or one lost call would hang them all.
        finally:
            heard.set()

    async def _ask_now(self, pending: PendingStep, seat: Seat, heard: asyncio.Event) -> None:
        """Ask one step and act on how it ends; every way to fail is a row of the table in the module's docstring."""
        step = pending.step.id
        if self._ending is not None:
            return
        failing = self._failing.get(id(seat))
        # A seat that is gone for good (a program that does not exist) is not asked for the rest of its steps.
        if failing is not None and failing.gone:
            self._lose(step, seat, failing)
            return
        self.watch.started(pending, seat)
        try:
            with suppress(
                StepRefused, Ending
            ):  # another process answered it, or it stays open for the next driver
                done = await answered(
                    pending,
                    seat,
                    self._limits,
                    self._rates[id(seat)],
                    heard.set,
                    lambda piece: self.watch.words(step, piece),
                )
                # One good answer clears the record: only seats whose last step failed count as failing.
                self._failing.pop(id(seat), None)
                self.watch.committed(done.events)
        except SeatWaits:
            self._waiting.add(step)
        except BudgetReached as reached:
            self._end(DriveEnd("stopped", reached.reason, detail=reached.detail))
        except StepLost as lost:
            self._lose(step, seat, lost.failure)

    def _lose(self, step: str, seat: Seat, failure: SeatFailed) -> None:
        """Give a lost step up, or leave it open when no seat is left to go on without it."""
        self.watch.lost(step, failure)
        # A fatal failure (a tape that lacks a reply) would meet later steps too; giving them all up
        # would ruin the run.
        if failure.fatal:
            self._end(DriveEnd("failed", "seats_failed", detail=failure.detail))
            return
        if failure.away:
            self._failing[id(seat)] = failure
            # With every seat failing, the fault is probably the network; the step stays open so that a
            # resume can ask again.
            if all(id(other) in self._failing for other in self.seats.values()):
                self._end(DriveEnd("failed", "seats_failed", detail=f"{step}: {failure.detail}"))
        if not failure.away or self._ending is None:
            # A vendor's error page can be huge, and the detail becomes a line of the ledger.
            detail = failure.detail[:2_000]
            self.watch.committed(self.session.give_up(step, failure.reason, detail))
