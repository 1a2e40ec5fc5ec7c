"""The automatic run: ask every open step's seat, commit replies as they arrive, until the run ends or must wait.

It keeps no state of its own but the calls in flight, so a driver killed at any instant is replaced by another,
which asks only for the steps that have no event yet (DESIGN 4).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ledger.events import Attempt, Event
from ledger.events.decisions import CloseReason
from roles.brief import repair
from roles.protocol import open_steps
from roles.seats.port import Request, Seat, SeatFailed, SeatReply, SeatWaits
from rounds.budget import used_up
from rounds.engine import Answer, ReplyRefused, StepRefused, sha256
from rounds.session import Asked, Session

ATTEMPTS_MAX = 2
"""One try and one repair (FORMAT 8)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a drive ended. `waiting` are open steps of seats that answer from outside; `detail` says what failed."""

    state: Literal["finished", "waiting", "stopped", "failed"]
    reason: CloseReason | None = None
    waiting: tuple[str, ...] = ()
    detail: str = ""


def _unseen(*_: object) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What a driver tells while it runs: a step is asked, events were committed, a step was lost."""

    asked: Callable[[Asked, Seat], object] = _unseen
    committed: Callable[[tuple[Event, ...]], object] = _unseen
    lost: Callable[[str, SeatFailed], object] = _unseen


class _RunFailed(Exception):
    """A seat's failure that ends the run."""


async def drive(
    session: Session,
    seats: Mapping[str, Seat],
    *,
    monotonic: Callable[[], float],
    watch: Watch | None = None,
    calls_at_once: int = 8,
) -> Outcome:
    """Run until the run is finished, a budget is used up, or only outside seats are open."""
    return await _Drive(session, seats, monotonic, watch or Watch(), calls_at_once).run()


class _Drive:
    def __init__(
        self,
        session: Session,
        seats: Mapping[str, Seat],
        monotonic: Callable[[], float],
        watch: Watch,
        calls_at_once: int,
    ) -> None:
        self._session = session
        self._seats = seats
        self._monotonic = monotonic
        self._began = monotonic()
        self._watch = watch
        self._slots = asyncio.Semaphore(calls_at_once)
        self._flying: dict[str, asyncio.Task[None]] = {}
        self._waiting: set[str] = set()

    async def run(self) -> Outcome:
        self._watch.committed(self._session.settle())
        try:
            while True:
                outcome = self._launch()
                if not self._flying:
                    return outcome
                await asyncio.wait(self._flying.values(), return_when=asyncio.FIRST_COMPLETED)
                self._collect()
        except _RunFailed as failure:
            return Outcome("failed", "seats_failed", detail=str(failure))
        finally:
            for task in self._flying.values():
                task.cancel()
            await asyncio.gather(*self._flying.values(), return_exceptions=True)

    def _launch(self) -> Outcome:
        """Start what can run; the outcome counts when nothing is in flight."""
        state = self._session.book().state
        if state.finished:
            return Outcome("finished", state.closures[-1].reason)
        minutes = (self._monotonic() - self._began) / 60
        exhausted = used_up(state, minutes)
        if exhausted is not None:
            if not self._flying:
                self._watch.committed(self._session.stop(exhausted))
            return Outcome("stopped", exhausted)
        steps = open_steps(self._session.protocol, state)
        for asked in self._session.asked() if any(step.id not in self._flying for step in steps) else ():
            if asked.step.id not in self._flying and asked.step.id not in self._waiting:
                self._flying[asked.step.id] = asyncio.create_task(self._ask(asked))
        if not steps and state.closures:
            return Outcome("stopped", state.closures[-1].reason)
        return Outcome("waiting", waiting=tuple(step.id for step in steps))

    def _collect(self) -> None:
        for step, task in list(self._flying.items()):
            if task.done():
                del self._flying[step]
                task.result()

    async def _ask(self, asked: Asked) -> None:
        seat = self._seats[asked.step.role]
        async with self._slots:
            self._watch.asked(asked, seat)
            try:
                await self._attempts(asked, seat)
            except SeatWaits:
                self._waiting.add(asked.step.id)
            except StepRefused:
                pass  # somebody else answered it meanwhile; the ledger has their reply
            except SeatFailed as failure:
                self._watch.lost(asked.step.id, failure)
                if failure.fatal:
                    self._session.stop("seats_failed")
                    raise _RunFailed(failure.detail) from failure
                detail = failure.detail[:2_000]
                self._watch.committed(self._session.give_up(asked.step.id, failure.reason, detail))

    async def _attempts(self, asked: Asked, seat: Seat) -> None:
        brief = asked.brief
        attempts: list[Attempt] = []
        blobs: dict[str, bytes] = {}
        for number in range(1, ATTEMPTS_MAX + 1):
            reply = await seat.reply(Request(asked.step, brief, number))
            try:
                answer = _answer(reply, tuple(attempts), brief.sha256)
                kept = {**blobs, **brief.blobs(), **reply.blobs}
                done = self._session.submit(asked.step.id, reply.content, answer, kept)
                self._watch.committed(done.events)
                return
            except ReplyRefused as refused:
                attempts.append(_attempt(number, brief.sha256, reply, "; ".join(refused.errors)))
                blobs |= {**brief.blobs(), sha256(reply.content): reply.content}
                brief = repair(asked.brief, reply.content, refused.errors)
        raise SeatFailed("malformed", f"{ATTEMPTS_MAX} replies were refused: {attempts[-1].error}")


def _attempt(number: int, brief: str, reply: SeatReply, error: str | None) -> Attempt:
    return Attempt(
        n=number,
        brief=brief,
        reply=sha256(reply.content),
        error=error[:2_000] if error else None,
        stop_reason=reply.stop_reason,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost_usd=reply.cost_usd,
        latency_ms=reply.latency_ms,
    )


def _answer(reply: SeatReply, failed: tuple[Attempt, ...], brief: str) -> Answer:
    attempts = reply.attempts or (*failed, _attempt(len(failed) + 1, brief, reply, None))
    return Answer(
        seat=reply.seat,
        isolation=reply.isolation,
        provider=reply.provider,
        model=reply.model,
        context_id=reply.context_id,
        attempts=attempts,
        tokens_in=_total([attempt.tokens_in for attempt in failed], reply.tokens_in),
        tokens_cached=reply.tokens_cached,
        tokens_cache_write=reply.tokens_cache_write,
        tokens_out=_total([attempt.tokens_out for attempt in failed], reply.tokens_out),
        cost_usd=reply.cost_usd,
        latency_ms=_total([attempt.latency_ms for attempt in failed], reply.latency_ms),
        stop_reason=reply.stop_reason,
        simulated=reply.simulated,
    )


def _total(failed: list[int | None], last: int | None) -> int | None:
    """The total over all attempts; unknown when one of them is."""
    known = [value for value in (*failed, last) if value is not None]
    return sum(known) if len(known) == len(failed) + 1 else None
