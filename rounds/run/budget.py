"""Budgets: every attempt reserves its worst case before it is made; spent + reserved never exceeds a limit.

Spent is what the events show and, beyond them, what is reserved: attempts in flight, attempts that were lost or
refused, and those of drivers that were killed. An amount that is unknown stays at its worst case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, Decimal

import msgspec

from ledger.events import Call
from ledger.events.run import CloseReason
from ledger.state.state import State
from ledger.store.spending import Entry
from roles.seats.port import Bound


def used_up(state: State, minutes: float) -> CloseReason | None:
    """Return the first budget that the next call could exceed, None when there is room.

    `minutes` is how long this driver ran.
    """
    # The clock starts with the driver, so a resumed run gets its minutes again; the other budgets
    # are of the run.
    is_time_up = state.limits.minutes is not None and minutes >= state.limits.minutes
    return _over(state, 1, 1, 1) or ("budget_minutes" if is_time_up else None)


def _over(state: State, calls: int, tokens: int, micro_usd: int) -> CloseReason | None:
    """Return the first budget that the run exceeds with these amounts on top of what it has spent."""
    limits, spend = state.limits, state.spend
    # Limits and prices are compared as whole millionths of a dollar: sums of floats would
    # drift around the limit.
    usd_max = None if limits.usd is None else int(Decimal(limits.usd) * 1_000_000)
    rows: tuple[tuple[CloseReason, int | None, int], ...] = (
        ("budget_calls", limits.calls, spend.engine_calls + calls),
        ("budget_tokens", limits.tokens, spend.tokens_in + spend.tokens_out + tokens),
        ("budget_usd", usd_max, spend.micro_usd + micro_usd),
    )
    return next((reason for reason, most, used in rows if most is not None and used > most), None)


class Amounts(msgspec.Struct):
    """Calls, tokens (in and out) and millionths of a dollar."""

    calls: int = 0
    tokens: int = 0
    micro_usd: int = 0


class Reservations:
    """Amounts reserved or spent beyond the events; `entries` come from earlier drivers, `note` keeps a new one."""

    def __init__(
        self, entries: Iterable[Entry] = (), note: Callable[[Entry], object] = lambda _: None
    ) -> None:
        self._note = note
        self._attempts: dict[int, Entry] = {}
        self._kept = Amounts()
        self._in_flight: set[int] = set()
        self._unwritten: set[int] = set()
        self._last = 0
        for entry in entries:
            self._take(entry)

    @property
    def idle(self) -> bool:
        """Return whether no attempt of this driver is reserved: then waiting frees nothing."""
        return not self._in_flight

    @property
    def unrecorded(self) -> Amounts:
        """Return the amounts that are reserved or spent and not shown by an event; never negative."""
        held = self._attempts.values()
        return Amounts(
            sum(entry.calls for entry in held) - self._kept.calls,
            sum(entry.tokens for entry in held) - self._kept.tokens,
            sum(entry.micro_usd for entry in held) - self._kept.micro_usd,
        )

    def lacks(self, state: State, bound: Bound) -> CloseReason | None:
        """Return the budget that an attempt of that bound could exceed; None when there is room for it."""
        # Attempts in flight count too: several steps run at once, and each of them alone would still fit.
        unrecorded, usd = self.unrecorded, _micro(bound.usd or Decimal(0))
        return _over(
            state, unrecorded.calls + 1, unrecorded.tokens + bound.tokens, unrecorded.micro_usd + usd
        )

    def reserve(self, step: str, bound: Bound) -> int:
        """Set an attempt's worst case aside and return its number; a reservation without tokens is not written down."""
        # A person or a tape costs nothing, so a kill can lose nothing and the note file stays short.
        if not bound.tokens:
            self._unwritten.add(self._last + 1)
        entry = Entry("reserve", self._last + 1, step, 1, bound.tokens, _micro(bound.usd or Decimal(0)))
        self._add(entry)
        self._in_flight.add(entry.n)
        return entry.n

    def settle(self, n: int, tokens: int | None, usd: str | None) -> None:
        """Put the measured amounts of an attempt in place of its worst case; None leaves the worst case."""
        reserved = self._attempts[n]
        used = _micro(Decimal(usd)) if usd is not None else reserved.micro_usd
        entry = Entry("settle", n, reserved.step, 1, reserved.tokens if tokens is None else tokens, used)
        self._in_flight.discard(n)
        self._add(entry)

    def abandon(self, n: int) -> None:
        """Stop waiting for an attempt; what it may cost stays reserved."""
        self._in_flight.discard(n)

    def keep(self, numbers: Sequence[int], call: Call) -> None:
        """Note that an event shows these attempts, so that what is held for them is not counted twice."""
        held = [self._attempts[n] for n in numbers]
        tokens = (call.tokens_in or 0) + (call.tokens_out or 0)
        usd = _micro(Decimal(call.cost_usd)) if call.cost_usd is not None else 0
        entry = Entry(
            "kept",
            numbers[-1],
            held[0].step,
            # Never more than was held: an event can count more than its reservations, and the rest
            # must not turn negative.
            min(max(1, len(call.attempts)), len(held)),
            min(tokens, sum(attempt.tokens for attempt in held)),
            min(usd, sum(attempt.micro_usd for attempt in held)),
        )
        self._add(entry)

    def _add(self, entry: Entry) -> None:
        # The note comes before the change: after a crash in between, too much is reserved
        # rather than too little.
        if entry.n not in self._unwritten:
            self._note(entry)
        self._take(entry)

    def _take(self, entry: Entry) -> None:
        self._last = max(self._last, entry.n)
        if entry.act == "kept":
            self._kept.calls += entry.calls
            self._kept.tokens += entry.tokens
            self._kept.micro_usd += entry.micro_usd
        else:
            self._attempts[entry.n] = entry


def _micro(usd: Decimal) -> int:
    """Return millionths of a dollar, rounded up so that a bound stays a bound."""
    return int((usd * 1_000_000).to_integral_value(ROUND_CEILING))
