"""An estimate of what a deliberation may take before it runs; never a bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import asdict

from ledger.plain_text import counted
from ledger.result import Result
from ledger.state.book import grouped
from moot.view.text import joined, listed
from roles.protocol import Protocol, StepSize
from roles.seats.prices import Prices, Tokens
from roles.seats.registry import provider_of
from rounds.protocols import protocol_of
from rounds.setup.size import SHORT, PlannedReply, fewest_replies_of, replies_of, size_of, waves_of

if TYPE_CHECKING:
    from ledger.events import RunOpened


# Four bytes per token fits English text; the wide range of the estimate absorbs the error.
BYTES_A_TOKEN: Final = 4


TOKENS_A_WORD: Final = 2
"""Tokens per word of a reply, whose words are inside JSON."""


SECONDS_A_WAVE: Final = (20, 120)
"""Seconds for replies that run in parallel, by models over a network: assumed, not measured."""


class Span(Result, frozen=True):
    """A number of tokens, low and high."""

    low: int
    high: int


class Dollars(Result, frozen=True):
    """Dollars, low and high, as decimal strings."""

    low: str
    high: str


class EstimatePart(Result, frozen=True):
    """The most replies that one role gives in one phase."""

    role: str
    phase: str
    replies: int


class EstimateSeat(Result, frozen=True):
    """What one seat, alone or for several roles, may take. `usd` is null where no price is known."""

    seat: str
    model: str | None
    roles: list[str]
    replies: int
    tokens_in: Span
    tokens_out: Span
    usd: Dollars | None


class Estimate(Result, frozen=True):
    """An estimate, not a promise. Low figures are those of the fewest replies that a run can end with.

    `usd` is null when the cost of a seat is unknown; `prices_dated` is a day. `waves`: how often replies are given side
    by side, which `minutes` rest on. `limits` are those that a person set; they bind.
    """

    file: str
    protocol: str
    rounds: int
    replies_at_least: int
    replies_at_most: int
    parts: list[EstimatePart]
    seats: list[EstimateSeat]
    tokens_in: Span
    tokens_out: Span
    usd: Dollars | None
    prices_dated: str
    assumptions: list[str]
    waves: int
    minutes: Span
    limits: dict[str, str | int]


def estimate_of(
    file: str, opening: RunOpened, specs: Mapping[str, str], models: Mapping[str, str], prices: Prices
) -> Estimate:
    """Return the estimate of an opened run.

    `specs` maps roles to seats, `models` maps every seat specification that names a model to that model.
    """
    protocol = protocol_of(opening)
    most, least = replies_of(opening), fewest_replies_of(opening)
    documents = sum(document.bytes for document in opening.context)

    def taken(spec: str, replies: Counter[PlannedReply], tokens: TokensOf) -> ReplyTotals:
        # People and recordings take no tokens, however many replies they give.
        free = provider_of(spec).runs in ("person", "recording")
        mine = [
            (size_of(protocol, planned.kind), replies[planned])
            for planned in most
            if specs.get(planned.role) == spec
        ]
        return _taken([] if free else mine, documents, models.get(spec), prices, tokens)

    seats: list[EstimateSeat] = []
    # One seat may answer for several roles and has one price, so group by seat.
    for spec in dict.fromkeys(specs.values()):
        low, high = taken(spec, least, _cheap), taken(spec, most, _expensive)
        model, roles = models.get(spec), [role for role in specs if specs[role] == spec]
        # A model on the user's own machine costs nothing, although no price table lists it.
        free = provider_of(spec).is_free(model or "")
        seats.append(
            EstimateSeat(
                seat=spec,
                model=model,
                roles=roles,
                replies=sum(number for planned, number in most.items() if planned.role in roles),
                tokens_in=Span(low.tokens_in, high.tokens_in),
                tokens_out=Span(low.tokens_out, high.tokens_out),
                usd=_dollars(Decimal(0), Decimal(0)) if free else _dollars(low.usd, high.usd),
            )
        )
    phases = Counter[tuple[str, str]]()
    for planned, number in most.items():
        phases[planned.role, planned.phase] += number
    waves = waves_of(opening)
    # Scale waves by the share of replies that the shortest run needs; negating twice rounds up.
    fewest = -(-waves * least.total() // max(1, most.total()))
    return Estimate(
        file=file,
        protocol=opening.protocol,
        rounds=len(opening.plan),
        replies_at_least=least.total(),
        replies_at_most=most.total(),
        parts=[
            EstimatePart(role, phase, number)
            for role in specs
            for (who, phase), number in sorted(phases.items())
            if who == role
        ],
        seats=seats,
        tokens_in=_sum([seat.tokens_in for seat in seats]),
        tokens_out=_sum([seat.tokens_out for seat in seats]),
        usd=_total([seat.usd for seat in seats]),
        prices_dated=prices.dated,
        assumptions=_assumptions(protocol, documents),
        waves=waves,
        # Round up to whole minutes, so that a short run never shows as 0 minutes.
        minutes=Span(-(-fewest * SECONDS_A_WAVE[0] // 60), -(-waves * SECONDS_A_WAVE[1] // 60)),
        limits={name: limit for name, limit in asdict(opening.budgets).items() if limit is not None},
    )


class ReplyTotals(NamedTuple):
    """Tokens and dollars of a number of replies; dollars are None where a price is unknown."""

    tokens_in: int
    tokens_out: int
    usd: Decimal | None


TokensOf = Callable[[int, int], Tokens]
"""Function from the tokens of a prompt and of a reply to those of one attempt."""


def _cheap(prompt: int, reply: int) -> Tokens:
    """Return half of the measured size, three quarters of the prompt read from the provider's cache."""
    read = prompt // 2 * 3 // 4
    return Tokens(uncached=prompt // 2 - read, read=read, written=0, out=reply // 2)


def _expensive(prompt: int, reply: int) -> Tokens:
    """Return twice the measured size and as much thinking as reply, the whole prompt written to the cache."""
    # Writing to the cache costs extra at some vendors.
    return Tokens(uncached=0, read=0, written=prompt * 2, out=reply * 4)


def _taken(
    replies: list[tuple[StepSize, int]], documents: int, model: str | None, prices: Prices, tokens: TokensOf
) -> ReplyTotals:
    """Return what replies take, each the size of a step and a number."""
    used = [
        (
            tokens(
                (size.brief_bytes + documents * size.documents) // BYTES_A_TOKEN,
                size.reply_words * TOKENS_A_WORD,
            ),
            number,
        )
        for size, number in replies
    ]
    paid = [(None if model is None else prices.usd(model, each), number) for each, number in used]
    known = [Decimal(usd) * number for usd, number in paid if usd is not None]
    return ReplyTotals(
        sum(each.prompt * number for each, number in used),
        sum(each.out * number for each, number in used),
        # An unknown price must not vanish in a sum.
        sum(known, Decimal(0)) if len(known) == len(paid) else None,
    )


def _dollars(low: Decimal | None, high: Decimal | None) -> Dollars | None:
    """Return a span of dollars; None where an end is not known."""
    return None if low is None or high is None else Dollars(f"{low:.6f}", f"{high:.6f}")


def _sum(spans: list[Span]) -> Span:
    """Return the sums of both ends."""
    return Span(sum(span.low for span in spans), sum(span.high for span in spans))


def _total(costs: list[Dollars | None]) -> Dollars | None:
    """Return the sum of all costs; None where one is not known."""
    known = [cost for cost in costs if cost is not None]
    # A total over only the known seats would read as a bound for the whole run.
    if len(known) < len(costs):
        return None
    return _dollars(
        sum((Decimal(cost.low) for cost in known), Decimal(0)),
        sum((Decimal(cost.high) for cost in known), Decimal(0)),
    )


def _assumptions(protocol: Protocol, documents: int) -> list[str]:
    """Return in lines what the estimate takes for granted."""
    measured = [
        f"{kind} {size.brief_bytes:,}/{size.reply_words:,}"
        for kind, size in protocol.sizes.items()
        if size.measured
    ]
    without = [kind for kind, size in protocol.sizes.items() if not size.documents]
    but = f" but those of {listed(without)}" if without else ""
    return [
        f"bytes of a brief/words of a reply by kind of step, {protocol.sizes_from}: {', '.join(measured)}"
        if measured
        else f"bytes of a brief/words of a reply, assumed: {SHORT.brief_bytes:,}/{SHORT.reply_words:,}",
        f"documents of {documents:,} bytes in every brief{but}",
        f"{BYTES_A_TOKEN} bytes of a brief a token; {TOKENS_A_WORD} tokens a word of a reply, with its JSON",
        "low: the fewest replies that a run can end with, briefs and replies half as large, no thinking, "
        "three quarters of the input read from the cache",
        "high: briefs and replies twice as large, as much thinking as reply, all input written to the cache",
        "high: every planned round is held; no reply is repaired and no attempt is lost",
        f"{SECONDS_A_WAVE[0]} to {SECONDS_A_WAVE[1]} seconds for replies that are given side by side, assumed",
    ]


def estimate_line(estimate: Estimate) -> str:
    """Return an estimate in one line, shown before a run starts."""
    return (
        f"{_replies_text(estimate)}, {dollars_text(estimate.usd)}{limits_text(estimate.limits)}, "
        f"{_time_text(estimate)}"
    )


def limits_text(limits: Mapping[str, str | int]) -> str:
    """Return a clause with the limits that a person set: `, never more than $1.00 (--max-usd)`."""
    # The cap in dollars is never exceeded, so it is worded as a promise. A small one must not read as $0.00.
    return "".join(
        f", never more than ${limit if Decimal(limit) * 100 % 1 else format(Decimal(limit), '.2f')} (--max-usd)"
        if name == "usd"
        else f", stops after {counted(int(limit), name[:-1])} (--max-{name})"
        for name, limit in limits.items()
    )


def _replies_text(estimate: Estimate) -> str:
    """Return `5 to 9 replies`."""
    most = counted(estimate.replies_at_most, "reply")
    return (
        most
        if estimate.replies_at_least == estimate.replies_at_most
        else f"{estimate.replies_at_least} to {most}"
    )


def _time_text(estimate: Estimate) -> str:
    low, high = duration(estimate.minutes.low), duration(estimate.minutes.high)
    return f"about {low}" if low == high else f"about {low} to {high}"


def duration(minutes: int) -> str:
    """Return minutes as `12 min`, `2.5 h`."""
    # Above an hour and a half, minutes suggest a precision that the estimate lacks.
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def estimate_text(estimate: Estimate) -> str:
    """Return what `moot run --dry-run` prints."""
    return joined(_estimate_lines(estimate))


def _estimate_lines(estimate: Estimate) -> Iterator[str]:
    # Further rounds of `crux` follow from a person's results and are no part of the price.
    rounds = "" if estimate.protocol == "crux" else f", {counted(estimate.rounds, 'round')}"
    yield (
        f"ESTIMATE of {estimate.file}: {estimate.protocol}{rounds}"
        f"{limits_text(estimate.limits) or '; only --max-usd sets a limit'}"
    )
    yield _replies_text(estimate)
    for role, mine in grouped((part.role, part) for part in estimate.parts).items():
        phases = listed([f"{part.phase} {part.replies}" for part in mine])
        yield f"  {role:<10} {sum(part.replies for part in mine):>4}   {phases}"
    yield f"by seat (prices of {estimate.prices_dated})"
    for seat in estimate.seats:
        model = f" ({seat.model})" if seat.model and seat.model not in seat.seat else ""
        yield f"  {seat.seat}{model}: {', '.join(seat.roles)}, {counted(seat.replies, 'reply')}"
        yield f"    {_tokens_text(seat.tokens_in, seat.tokens_out)}, {dollars_text(seat.usd)}"
    tokens = _tokens_text(estimate.tokens_in, estimate.tokens_out)
    yield f"in all: {tokens}, {dollars_text(estimate.usd)}, {_time_text(estimate)}"
    yield "it rests on"
    yield from (f"  {assumption}" for assumption in estimate.assumptions)


def _tokens_text(tokens_in: Span, tokens_out: Span) -> str:
    return f"{_span_text(tokens_in)} tokens in, {_span_text(tokens_out)} out"


def _span_text(span: Span) -> str:
    return f"{span.low:,} to {span.high:,}" if span.low != span.high else f"{span.low:,}"


def dollars_text(usd: Dollars | None) -> str:
    """Return dollars in words: `$0.10 to $0.40`."""
    if usd is None:
        return "cost unknown"
    low, high = Decimal(usd.low), Decimal(usd.high)
    return f"${low:.2f} to ${high:.2f}" if low != high else f"${low:.2f}"
