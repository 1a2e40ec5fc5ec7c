"""Attempts of one step: lost ones made again, a refused reply repaired once, each reserved, recorded and rate-limited.

A seat that says it is overloaded is left alone for as long as it asks (at most a minute) and then given fewer calls at
once; each good reply gives one back. Waits are the same for the same step and try: no randomness enters a run.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

import msgspec

from ledger.events import Attempt
from ledger.events.envelope import FROM_OUTSIDE
from ledger.events.run import CloseReason
from ledger.redaction.masking import MaskedStream
from ledger.store.blobs import hash_of
from roles.brief import Brief, repair
from roles.seats.port import (
    Answer,
    AttemptLost,
    Bound,
    Metered,
    Request,
    Seat,
    SeatFailed,
    SeatReply,
    Used,
    attempt,
)
from rounds.run.budget import Reservations
from rounds.run.session import PendingStep, ReplyRefused, RunSession, Submitted, attempt_row


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Rules for repeating lost attempts: how often, and after which wait in seconds."""

    attempts_max: int = 6
    wait_seconds_first: float = 0.5
    wait_seconds_max: float = 60.0

    def wait_seconds(self, step: str, lost: int, asked_for: float | None) -> float:
        """Return the seconds to wait after the `lost`-th lost attempt.

        It is what the service asks for, else a doubling time, less up to a quarter.
        """
        if asked_for is not None:
            # A service may ask for an hour; a run that sleeps that long looks dead, so it tries
            # again after a minute.
            return min(asked_for, self.wait_seconds_max)
        # Steps that failed together would otherwise all come back at the same instant
        # and fail together again.
        spread = 0.75 + 0.25 * hashlib.sha256(f"{step}/{lost}".encode()).digest()[0] / 255
        doubled: float = self.wait_seconds_first * 2 ** (lost - 1)
        return min(doubled, self.wait_seconds_max) * spread


class RateLimit:
    """The queue of one seat: how many calls it is given at once."""

    def __init__(self, calls_at_once: int) -> None:
        self._most = self.limit = calls_at_once
        """The calls at once that are allowed now; `_most` were allowed at first."""
        self._busy = 0
        self._until = 0.0
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Hold the place of one call; wait for a free one first."""
        # A loop, not an if: another waiter may take the place first, or the limit may have shrunk.
        while self._busy >= self.limit:
            await self._changed.wait()
        self._busy += 1
        try:
            # The pause can be extended while this call sleeps, so the remaining time is computed again.
            while (left := self._until - asyncio.get_running_loop().time()) > 0:
                await asyncio.sleep(left)
            yield
        finally:
            self._busy -= 1
            self._wake()

    def slow_down(self, seconds: float) -> None:
        """Pause a seat that is overloaded for that many seconds, then halve the calls at once."""
        self._until = max(self._until, asyncio.get_running_loop().time() + seconds)
        self.limit = max(1, self.limit // 2)

    def went_well(self) -> None:
        """Allow one more call at once after a good reply, up to the initial limit."""
        self.limit = min(self._most, self.limit + 1)
        self._wake()

    def _wake(self) -> None:
        """Let every waiter look for a place again."""
        self._changed.set()
        # A fresh event: the old one stays set, so a waiter that has not run yet cannot miss the change.
        self._changed = asyncio.Event()


REPLIES_MAX: Final = 2
"""One reply and one repair (FORMAT 8); a person is asked again until they leave."""
CUT: Final = ("max_tokens", "model_context_window_exceeded", "length")
"""Stop reasons of an incomplete reply."""
FREE: Final = Bound(0, Decimal(0))
NOTHING: Final = Used(tokens_in=0, tokens_out=0, cost_usd="0")


class BudgetReached(Exception):
    """A budget that the next attempt could exceed, while nothing in flight can free enough of it."""

    def __init__(self, reason: CloseReason, detail: str) -> None:
        super().__init__(detail)
        self.reason: CloseReason = reason
        self.detail = detail


class Ending(Exception):
    """The end of the drive while this step stays open."""


@dataclass(slots=True)
class CallLimits:
    """Limits that all steps of a drive share. `settled` is set whenever a reservation became smaller."""

    session: RunSession
    reservations: Reservations
    retry: RetryPolicy
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    ends: bool = False

    async def reserved(self, step: str, bound: Bound) -> int:
        """Reserve one attempt, waiting for attempts in flight when they can free room."""
        while True:
            if self.ends:
                raise Ending
            lacking = self.reservations.lacks(self.session.book().state, bound)
            if lacking is None:
                return self.reservations.reserve(step, bound)
            # With nothing in flight no reservation can shrink anymore, so waiting would never end.
            if self.reservations.idle:
                usd = "" if bound.usd is None else f" and ${bound.usd}"
                worst = f"the next attempt, {step}, could take {bound.tokens} tokens{usd}"
                raise BudgetReached(lacking, worst)
            # Cleared before the wait and without an await in between, so no settlement can be missed.
            self.settled.clear()
            await self.settled.wait()

    def settle(self, n: int, used: Used) -> None:
        """Record the end of an attempt and wake steps that wait for room."""
        self.reservations.settle(n, _sum(used.tokens_in, used.tokens_out), used.cost_usd)
        self.settled.set()

    def abandon(self, n: int) -> None:
        """Record an attempt whose outcome and cost are unknown."""
        self.reservations.abandon(n)
        self.settled.set()


@dataclass(slots=True)
class _Tries:
    """The attempts of one step so far; `kept` are their blobs."""

    attempts: list[Attempt] = field(default_factory=list[Attempt])
    used: list[Used] = field(default_factory=list[Used])
    numbers: list[int] = field(default_factory=list[int])
    kept: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def add(self, brief: Brief, used: Used, reply: SeatReply | None, error: str | None) -> None:
        """Add one more attempt: without an error the accepted one, with an error one to be repeated."""
        # Prompts and replies of failed attempts are kept too: they were paid for, and a reader may
        # want to see them.
        self.kept |= brief.blobs()
        if reply is not None:
            self.kept[hash_of(reply.content)] = reply.content
        content = None if reply is None else reply.content
        self.attempts.append(attempt_row(len(self.attempts) + 1, brief, content, reply or used, error))
        self.used.append(used)


class StepLost(Exception):
    """A step without an answer after its last attempt."""

    def __init__(self, failure: SeatFailed) -> None:
        super().__init__(failure.detail)
        self.failure = failure


async def answered(
    pending: PendingStep,
    seat: Seat,
    limits: CallLimits,
    rate: RateLimit,
    heard: Callable[[], None] = lambda: None,
    words: Callable[[str], object] = lambda _: None,
) -> Submitted:
    """Return the step's reply, committed.

    `heard` is called at the first byte of the first attempt, `words` with each piece.

    Raises `StepLost`, `BudgetReached`, `Ending`, `SeatWaits` or `StepRefused`.
    """
    tries = _Tries()
    brief, replies, lost = pending.brief, 0, 0
    while True:
        # What a person sees live passes a mask: a model may repeat a secret that its prompt held.
        stream = MaskedStream(words)
        request = Request(pending.step, brief, replies + 1, heard, stream)
        try:
            reply = await _attempt(request, seat, limits, rate, tries)
            stream.end()
            heard()
        except AttemptLost as failure:
            # Siblings wait for the first byte; a lost attempt must release them as well.
            heard()
            lost += 1
            tries.add(brief, failure.used, None, failure.detail)
            wait = limits.retry.wait_seconds(pending.step.id, lost, failure.wait_seconds)
            if failure.overloaded:
                rate.slow_down(wait)
            if not failure.again or lost >= limits.retry.attempts_max:
                detail = failure.detail if lost == 1 else f"{failure.detail}; {lost} attempts were lost"
                given_up = SeatFailed(failure.reason, detail, away=True, gone=failure.gone)
                raise StepLost(given_up) from failure
            # The drive is ending: a lost attempt is not repeated, and the step stays open
            # for the next driver.
            if limits.ends:
                raise Ending from failure
            await asyncio.sleep(wait)
            continue
        except SeatFailed as failure:
            # A seat that failed for good made its own attempts; there is nothing here to repeat.
            raise StepLost(failure) from failure
        replies += 1
        errors = _unfit(reply)
        if not errors:
            try:
                return _submit(pending, brief, reply, limits, rate, tries)
            except ReplyRefused as refused:
                errors = refused.errors
        tries.add(brief, reply, reply, "; ".join(errors))
        # A person may try as often as they like: their typing costs no budget.
        if replies == REPLIES_MAX and seat.kind != "human":
            raise StepLost(_given_up(reply, errors))
        # The repair refers to the original prompt and not to an earlier repair, so prompts do not grow.
        brief = repair(pending.brief, reply.content, errors)


async def _attempt(
    request: Request, seat: Seat, limits: CallLimits, rate: RateLimit, tries: _Tries
) -> SeatReply:
    """Make one attempt within its reservation; asking a seat that answers from outside costs the engine nothing."""
    bound = seat.bound(request) if isinstance(seat, Metered) else FREE
    async with rate.turn():
        if seat.kind in FROM_OUTSIDE:
            if limits.ends:
                raise Ending
            return await attempt(seat, request)
        number = await limits.reserved(request.step.id, bound)
        # The number is kept before the call, so that a call that is cancelled still counts.
        tries.numbers.append(number)
        try:
            reply = await attempt(seat, request)
        except AttemptLost as failure:
            limits.settle(number, failure.used)
            raise
        # Also on cancellation: how much the vendor charges is unknown then, so the worst case stays reserved.
        except BaseException:
            limits.abandon(number)
            raise
        limits.settle(number, NOTHING if bound is FREE else reply)
        return reply


def _submit(
    pending: PendingStep, brief: Brief, reply: SeatReply, limits: CallLimits, rate: RateLimit, tries: _Tries
) -> Submitted:
    """Commit a reply. Raises `ReplyRefused`; the attempts are unchanged then."""
    # A copy, because a refused reply is added to the attempts later, with its error.
    tries_with = _Tries(list(tries.attempts), list(tries.used), tries.numbers, dict(tries.kept))
    tries_with.add(brief, reply, reply, None)
    answer = _answer(reply, tries_with)
    done = limits.session.submit(pending.step.id, reply.content, answer, {**tries_with.kept, **reply.blobs})
    rate.went_well()
    call = next((event.call for event in done.events if event.call is not None), None)
    if call is not None and tries.numbers:
        limits.reservations.keep(tries.numbers, call)
    return done


def _unfit(reply: SeatReply) -> tuple[str, ...]:
    """Return why a reply is not even read: it is cut off, or a refusal. Neither is ever agreement."""
    if reply.stop_reason == "refusal":
        return ("(reply): the model refused to answer; answer the task as far as you can",)
    cut = "(reply): it was cut off at the limit; answer again, and shorter"
    return (cut,) if reply.stop_reason in CUT else ()


def _given_up(reply: SeatReply, errors: tuple[str, ...]) -> SeatFailed:
    cut = "truncated" if reply.stop_reason in CUT else "malformed"
    reason = "refused" if reply.stop_reason == "refusal" else cut
    return SeatFailed(reason, f"{REPLIES_MAX} replies were refused: {'; '.join(errors)}")


def _answer(reply: SeatReply, tries: _Tries) -> Answer:
    """Return what the call records: attempts as they are on the tape, or live ones with their sums."""
    if reply.attempts:
        return reply
    sums = {
        name: _sum(*(getattr(used, name) for used in tries.used))
        for name in Used.__struct_fields__
        if name != "cost_usd"
    }
    # The amount of a single attempt stays as its seat wrote it; a sum has six decimals of its own.
    costs = [used.cost_usd for used in tries.used]
    known = [Decimal(cost) for cost in costs if cost is not None]
    total = f"{sum(known, Decimal(0)):.6f}" if len(known) == len(costs) else None
    cost = total if len(costs) > 1 else costs[0]
    return msgspec.structs.replace(reply, attempts=tuple(tries.attempts), cost_usd=cost, **sums)


def _sum(*values: int | None) -> int | None:
    """Return the sum; unknown when a part of it is."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
