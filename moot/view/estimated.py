"""An estimate for people: replies by role and phase, seats with tokens and dollars, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from moot.view.plain import joined, listed

if TYPE_CHECKING:
    from moot.view.output.estimate import Dollars, Estimate, EstimateSeat, Span


def estimate_text(found: Estimate) -> str:
    """What `moot estimate` prints."""
    return joined(_lines(found))


def _lines(found: Estimate) -> Iterator[str]:
    yield f"ESTIMATE of {found.file}: {found.protocol}, {found.rounds} rounds; it is no bound (--max-usd is one)"
    yield f"at most {found.replies_at_most} replies"
    for role in dict.fromkeys(part.role for part in found.parts):
        mine = [part for part in found.parts if part.role == role]
        phases = listed([f"{part.phase} {part.replies}" for part in mine])
        yield f"  {role:<10} {sum(part.replies for part in mine):>4}   {phases}"
    yield f"by seat (prices of {found.prices_dated})"
    for seat in found.seats:
        yield from _seat(seat)
    yield f"in all: {_tokens(found.tokens_in, found.tokens_out)}, {_dollars(found.usd)}"
    yield "it rests on"
    yield from (f"  {one}" for one in found.assumptions)


def _seat(seat: EstimateSeat) -> Iterator[str]:
    model = f" ({seat.model})" if seat.model and seat.model not in seat.seat else ""
    yield f"  {seat.seat}{model}: {', '.join(seat.roles)}, {seat.replies} replies"
    yield f"    {_tokens(seat.tokens_in, seat.tokens_out)}, {_dollars(seat.usd)}"


def _tokens(tokens_in: Span, tokens_out: Span) -> str:
    return f"{_span(tokens_in)} tokens in, {_span(tokens_out)} out"


def _span(span: Span) -> str:
    return f"{span.low:,} to {span.high:,}" if span.low != span.high else f"{span.low:,}"


def _dollars(usd: Dollars | None) -> str:
    if usd is None:
        return "dollars unknown"
    low, high = Decimal(usd.low), Decimal(usd.high)
    return f"{low:.2f} to {high:.2f} dollars" if low != high else f"{low:.2f} dollars"
