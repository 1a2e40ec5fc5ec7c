"""BLB002, error: a call's attempts are in order, the last is the accepted one, and their sums are its totals.

A repair that is not listed would hide how often a seat failed, and what it cost. Source: FORMAT 1 (`call`).
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from ledger.events import Call
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Calls whose attempts are missing, out of order, or do not lead to the reply and the totals."""
    for event in docket.events:
        if event.call is not None:
            for problem in _problems(event.call):
                yield Breach(event.seq, f"{event.step}: {problem}")


def _problems(call: Call) -> Iterator[str]:
    if not call.attempts:
        yield "the call lists no attempt"
        return
    if [attempt.n for attempt in call.attempts] != list(range(1, len(call.attempts) + 1)):
        yield "the attempts are not numbered from 1 in order"
    last = call.attempts[-1]
    if last.reply != call.reply or last.error is not None:
        yield "the last attempt is not the accepted one"
    if call.attempts[0].brief != call.brief:
        yield "the first attempt was not given the brief"
    for name in ("tokens_in", "tokens_out", "latency_ms"):
        parts = [getattr(attempt, name) for attempt in call.attempts]
        total = getattr(call, name)
        if None not in parts and total is not None and sum(parts) != total:
            yield f"the attempts' {name} come to {sum(parts)}, not {total}"
    costs = [Decimal(attempt.cost_usd) for attempt in call.attempts if attempt.cost_usd is not None]
    if (
        len(costs) == len(call.attempts)
        and call.cost_usd is not None
        and sum(costs) != Decimal(call.cost_usd)
    ):
        yield f"the attempts cost {sum(costs)}, not {call.cost_usd}"


RULE: Final = Rule(
    code="BLB002",
    name="attempts_add_up",
    severity="error",
    summary="A call's attempts are in order, the last is the accepted one, and their sums are its totals.",
    check=check,
    applies_to_imports=False,
    recorded=False,
)
