"""Protocols in words: what can be run, the gate's choice with price and time, the figures of a new file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from textwrap import wrap
from typing import Final

from ledger.events import RunOpened
from ledger.events.run import PlanRow
from ledger.plain_text import counted, shortened
from ledger.result import Result
from moot.view.estimate import Dollars, Estimate, dollars_text, duration
from moot.view.stop_checks import seldom_ready, what_a_plan_lacks
from moot.view.text import joined, listed
from roles.castings import CASTINGS
from rounds.protocols import MEANINGS, PROTOCOLS
from rounds.protocols.plans import PLANS
from rounds.setup.size import replies_of

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
    return Choice.from_parts(
        estimate,
        plan=plan,
        fits=PROTOCOLS[estimate.protocol].fits,
        replies=estimate.replies_at_most,
        usd=usd,
        # Estimates span an order of magnitude, so the geometric mean is closer to a typical run.
        typical_usd=None if usd is None else f"{(Decimal(usd.low) * Decimal(usd.high)).sqrt():.6f}",
        # A run of seconds still shows as one minute: 0 would look like an unknown time.
        minutes=max(1, round(math.sqrt(minutes.low * minutes.high))),
        model=model,
    )


def gate_line(chosen: Choice, also: Sequence[Choice], items: Sequence[str] = (), limits: str = "") -> str:
    """Return the choice in one line: `crux: 4–21 replies, typically $0.12, 2 min (single-pass: $0.02)`.

    `limits` is the clause of the limits that the person set.
    """
    of = f" of {listed([shortened(item, 40) for item in items])}" if items else ""
    prices = (
        f"{other.protocol}: {_dollars(other.typical_usd) if other.typical_usd else _replies(other)}"
        for other in also
    )
    beside = f" ({', '.join(prices)})" if also else ""
    cost = "cost unknown" if chosen.typical_usd is None else f"typically {_dollars(chosen.typical_usd)}"
    return f"{chosen.protocol}{of}: {_replies(chosen)}, {cost}{limits}, {duration(chosen.minutes)}{beside}"


def gate_text(gated: Gated, width: int) -> str:
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


def choices_lines(choices: Sequence[Choice], chosen: str, width: int) -> Iterator[str]:
    """Yield every protocol with its replies, price and purpose; the chosen one is marked."""
    if not choices:
        return
    yield from wrap(
        f"all of them, with replies at most and dollars with {choices[0].model} in every seat", width
    )
    for choice in choices:
        mark = "→" if choice.protocol == chosen else " "
        name = f"{choice.protocol} {choice.plan}" if choice.plan else choice.protocol
        line = f"{mark} {name:<22} {choice.replies:>4}   {dollars_text(choice.usd)}"
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


def _dollars(usd: str) -> str:
    amount = Decimal(usd)
    # Rounding to $0.00 would claim that a run is free.
    return "under $0.01" if 0 < amount < Decimal("0.005") else f"${amount:.2f}"


class RoleLine(Result, frozen=True):
    """A role and the question it asks."""

    id: str
    question: str


class ProtocolLine(Result, frozen=True):
    """A protocol: `--protocol NAME`.

    `fits` says when; `rules` are its named variants, the default first, `meanings` what they choose.
    """

    name: str
    summary: str
    roles: list[RoleLine]
    fits: str
    calls: str
    rules: dict[str, list[str]]
    meanings: dict[str, str]


class PlanLine(Result, frozen=True):
    """A plan: `--plan NAME`. `stress` and `drift` are round numbers."""

    name: str
    rounds: int
    stress: list[int]
    drift: list[int]


class Protocols(Result, frozen=True):
    """What this moot has; `castings` are for `--rule cast=NAME`."""

    protocols: list[ProtocolLine]
    plans: list[PlanLine]
    castings: list[str]


def protocols(name: str | None = None) -> Protocols:
    """Return all installed protocols, or one. Raises `ProtocolUnknown`."""
    chosen = list(PROTOCOLS.values()) if name is None else [PROTOCOLS[name]]
    return Protocols(
        protocols=[
            ProtocolLine.from_parts(
                protocol,
                rules={rule: list(values) for rule, values in protocol.variants.items()},
                meanings={rule: MEANINGS[rule] for rule in protocol.variants},
            )
            for protocol in chosen
        ],
        plans=[
            PlanLine(name, len(plan), *_marked(plan))
            for name, plan in PLANS.items()
            # Plans only matter to protocols whose number of rounds can be chosen.
            if not all(protocol.fixed_plan for protocol in chosen)
        ],
        castings=list(CASTINGS) if any(protocol.has_castings for protocol in chosen) else [],
    )


def _marked(rows: Sequence[PlanRow]) -> tuple[list[int], list[int]]:
    """Return the rounds of a plan in which a role is absent, and those with a drift check."""
    return [row.round for row in rows if row.absent], [row.round for row in rows if row.drift]


class NewFile(Result, frozen=True):
    """Figures of a new file; `replies` is how many the plan asks for at most, S included.

    `lacks`: why it can never become ready; `seldom`: why it seldom does, empty where it mostly does.
    """

    file: str
    protocol: str
    rounds: int
    stress: list[int]
    drift: list[int]
    replies: int
    waived: list[str]
    lacks: list[str]
    seldom: str
    choices: list[Choice]


def new_of(file: str, opening: RunOpened, choices: Sequence[Choice]) -> NewFile:
    """Return the figures of a new file."""
    stress, drift = _marked(opening.plan)
    return NewFile.from_parts(
        opening,
        file=file,
        rounds=len(opening.plan),
        stress=stress,
        drift=drift,
        replies=replies_of(opening).total(),
        waived=[waiver.what for waiver in opening.waived],
        lacks=what_a_plan_lacks(opening),
        seldom=seldom_ready(opening),
        choices=choices,
    )


def protocols_text(listing: Protocols) -> str:
    """Return what `moot gate` prints."""
    lines: list[str] = []
    for protocol in listing.protocols:
        lines += [f"{protocol.name}   {protocol.summary}", f"  for {protocol.fits}; calls: {protocol.calls}"]
        lines += [f"  {role.id:<16} {role.question}" for role in protocol.roles]
        lines += [
            f"  --rule {rule}={'|'.join(values)}   {protocol.meanings[rule]}"
            for rule, values in protocol.rules.items()
        ]
    lines += ["", "plans"] if listing.plans else []
    for plan in listing.plans:
        stress = listed([f"R{n}" for n in plan.stress])
        lines.append(
            f"  {plan.name:<12} {plan.rounds} rounds, stress {stress}, drift {listed([f'R{n}' for n in plan.drift])}"
        )
    lines += ["", f"castings   {', '.join(listing.castings)}"] if listing.castings else []
    return joined(lines)


def new_text(draft: NewFile, width: int) -> str:
    """Return what `moot new` prints."""
    stress = listed([f"R{n}" for n in draft.stress], "no stress round")
    rounds, replies = counted(draft.rounds, "round"), f"at most {draft.replies} replies"
    lines = [
        f"{draft.file}: {draft.protocol}, {rounds}, stress {stress}, {replies}",
        # Say this before the run: afterwards a waiver qualifies every verdict.
        *(f"WAIVED {what}: it will be said before every verdict" for what in draft.waived),
        *(f"CANNOT BECOME READY {why}: the run ends with its plan" for why in draft.lacks),
        *(f"SELDOM BECOMES READY {why}" for why in [draft.seldom] if why),
        *choices_lines(draft.choices, draft.protocol, width),
        f"change it as you like, then: moot run {draft.file} --seats host",
    ]
    return joined(lines)
