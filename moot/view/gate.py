"""The gate's choice in words: the protocol, its replies, price and time, and what else would fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from textwrap import wrap
from typing import Final

from ledger.plain_text import counted, shortened
from ledger.result import Result
from moot.view.estimate import Dollars, Estimate, dollars_told
from moot.view.text import WIDTH, joined, listed
from rounds.protocols import PROTOCOLS
from rounds.setup.gate import GateChoice

# Narrow terminals put the purpose on a line of its own instead of this column.
FITS_FROM: Final = 55
"""Column at which a table of protocols states their purposes."""


class Choice(Result, frozen=True):
    """A protocol, or a plan of one, with what a run of it takes in replies, dollars and minutes.

    `usd` is the range for `model` in every seat and `typical_usd` its geometric mean; both are null where a price is
    not known. `minutes` is typical too. `replies` is the most.
    """

    protocol: str
    plan: str | None
    fits: str
    replies_at_least: int
    replies: int
    usd: Dollars | None
    typical_usd: str | None
    minutes: int
    model: str


class Gated(Result, frozen=True):
    """The protocol for a question, the kind of question it is and the words that tell.

    `items`: options that the question names and the protocol needs. `stakes`: words that rule one reply out.
    `chosen`: what the protocol takes. `also`: what else would fit. `choices`: all protocols, the shortest first.
    """

    kind: str
    protocol: str
    reason: str
    stakes: list[str]
    items: list[str]
    chosen: Choice
    also: list[Choice]
    choices: list[Choice]


def choice_of(estimate: Estimate, plan: str | None, model: str) -> Choice:
    """Return what a run takes by its estimate."""
    usd, minutes = estimate.usd, estimate.minutes
    return Choice(
        protocol=estimate.protocol,
        plan=plan,
        fits=PROTOCOLS[estimate.protocol].fits,
        replies_at_least=estimate.replies_at_least,
        replies=estimate.replies_at_most,
        usd=usd,
        # Estimates span an order of magnitude, so the geometric mean is closer to a typical run.
        typical_usd=None if usd is None else f"{(Decimal(usd.low) * Decimal(usd.high)).sqrt():.6f}",
        # A run of seconds still shows as one minute: 0 would look like an unknown time.
        minutes=max(1, round(math.sqrt(minutes.low * minutes.high))),
        model=model,
    )


def gated_of(gated: GateChoice, chosen: Choice, also: Sequence[Choice], choices: Sequence[Choice]) -> Gated:
    """Return the gate's choice for machines."""
    return Gated(
        kind=gated.kind,
        protocol=gated.protocol,
        reason=gated.reason,
        stakes=gated.stakes,
        items=gated.items,
        chosen=chosen,
        also=list(also),
        choices=list(choices),
    )


def gate_line(
    chosen: Choice, also: Sequence[Choice], items: Sequence[str] = (), cap: str | None = None
) -> str:
    """Return the choice in one line: `crux: 4–21 replies, typically $0.12, 2 min (single-pass: $0.02)`.

    `cap` is the budget in dollars.
    """
    limit = "" if cap is None else f", never more than ${Decimal(cap):.2f}"
    of = f" of {listed([shortened(item, 40) for item in items])}" if items else ""
    beside = f" ({', '.join(f'{other.protocol}: {_price(other)}' for other in also)})" if also else ""
    return f"{chosen.protocol}{of}: {_replies(chosen)}, {_cost(chosen)}{limit}, {_minutes(chosen.minutes)}{beside}"


def gate_text(gated: Gated, width: int = WIDTH) -> str:
    """Return what `moot gate QUESTION` prints."""
    # Some protocols cannot run without options, so the printed command has to ask for them.
    least = PROTOCOLS[gated.protocol].options_wanted[0]
    options = " --option '…' --option '…'" if least > len(gated.items) else ""
    return joined(
        [
            gate_line(gated.chosen, gated.also, gated.items),
            *wrap(f"{gated.kind}: {gated.reason}", width, initial_indent="  ", subsequent_indent="  "),
            *choices_lines(gated.choices, gated.protocol, width),
            f"run it: moot run -q '…'{options} --seats …",
        ]
    )


def choices_lines(choices: Sequence[Choice], chosen: str, width: int = WIDTH) -> Iterator[str]:
    """Yield every protocol with its replies, price and purpose; the chosen one is marked."""
    if not choices:
        return
    yield from wrap(
        f"all of them, with replies at most and dollars with {choices[0].model} in every seat", width
    )
    for choice in choices:
        mark = "→" if choice.protocol == chosen else " "
        name = f"{choice.protocol} {choice.plan}" if choice.plan else choice.protocol
        line = f"{mark} {name:<22} {choice.replies:>4}   {dollars_told(choice.usd)}"
        # At 80 columns two narrow columns would break every word of the purpose.
        begin = FITS_FROM if width > 2 * FITS_FROM - 10 else 4
        first, *rest = wrap(choice.fits, max(20, width - begin))
        if begin == FITS_FROM:
            yield f"{line:<{begin}}{first}"
        else:
            yield from (line, f"{'':<{begin}}{first}")
        yield from (f"{'':<{begin}}{more}" for more in rest)


def _replies(choice: Choice) -> str:
    most = counted(choice.replies, "reply")
    return most if choice.replies_at_least == choice.replies else f"{choice.replies_at_least}–{most}"


def _cost(choice: Choice) -> str:
    return "cost unknown" if choice.typical_usd is None else f"typically {_dollars(choice.typical_usd)}"


def _price(choice: Choice) -> str:
    return _replies(choice) if choice.typical_usd is None else _dollars(choice.typical_usd)


def _dollars(usd: str) -> str:
    amount = Decimal(usd)
    # Rounding to $0.00 would claim that a run is free.
    return "under $0.01" if 0 < amount < Decimal("0.005") else f"${amount:.2f}"


def _minutes(minutes: int) -> str:
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
