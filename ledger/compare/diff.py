"""Differences between two runs: claims and how they ended, decisions, cost, and where the ledgers part (FORMAT 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import orjson

from ledger.compare.align import Alignment, Pair, align, alignable, normal
from ledger.events import Claim, Decision, Event
from ledger.format.canonical import encode
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import standings
from ledger.state.state import State

MEASURED: Final = ("cost_usd", "latency_ms")
"""Keys of a call with its duration and cost, which are no part of its content."""


class Matched(Result, frozen=True):
    """The same thing in both runs, with where it stands in each. `how` is identical or text."""

    a: str
    b: str
    how: str
    status_a: str
    status_b: str


class Similar(Result, frozen=True):
    """Perhaps the same thing: token overlap to two digits. Never counted as matched."""

    a: str
    b: str
    similarity: float


class Differences(Result, frozen=True):
    """Claims or decisions of two runs side by side. `changed` are the matched ones with another final status."""

    only_a: list[str]
    only_b: list[str]
    changed: list[Matched]
    matched: list[Matched]
    similar: list[Similar]


class Cost(Result, frozen=True):
    """What a run's calls took. `usd` leaves out the `unpriced` calls, null where that are all; tokens leave out unknown
    counts."""

    calls: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    usd: str | None
    unpriced: int


class Costs(Result, frozen=True):
    """Both runs' cost."""

    a: Cost
    b: Cost


class Parting(Result, frozen=True):
    """The first line that differs: what each run has there, null where it has ended."""

    seq: int
    a: str | None
    b: str | None


class LedgerDiff(Result, frozen=True):
    """What `diff` says without the signals. With different questions `comparable` is false and nothing parts."""

    a: str
    b: str
    same: bool
    comparable: bool
    first_divergence: int | None
    parting: Parting | None
    claims: Differences
    decisions: Differences
    cost: Costs


def diff(a: Book, b: Book, names: tuple[str, str] = ("a", "b")) -> LedgerDiff:
    """Compare two runs. `same`: no line differs but for hashes, instants, and what calls took and cost."""
    comparable = normal(a.state.opening.question) == normal(b.state.opening.question)
    parting = first_divergence(a.events, b.events)
    return LedgerDiff(
        a=names[0],
        b=names[1],
        same=parting is None,
        comparable=comparable,
        # Runs of different questions differ from their first line on, which would say nothing.
        first_divergence=parting.seq if parting and comparable else None,
        parting=parting if comparable else None,
        claims=_differences(_align(a, b, Claim), _claim_statuses(a.state), _claim_statuses(b.state)),
        decisions=_differences(_align(a, b, Decision), standings(a.state), standings(b.state)),
        cost=Costs(a=_cost(a.state), b=_cost(b.state)),
    )


def first_divergence(a: tuple[Event, ...], b: tuple[Event, ...]) -> Parting | None:
    """Return where two ledgers part: the lowest seq at which their events differ in content."""
    for seq in range(max(len(a), len(b))):
        event = a[seq] if seq < len(a) else None
        other = b[seq] if seq < len(b) else None
        if event is None or other is None or not _say_the_same(event, other):
            return Parting(seq=seq, a=_named(event), b=_named(other))
    return None


def _say_the_same(event: Event, other: Event) -> bool:
    return event == other or content(event) == content(other)


def content(event: Event) -> Mapping[str, Any]:
    """Return an event's line as a mapping without `prev`, `at`, and what its call took and cost."""
    fields: dict[str, Any] = orjson.loads(encode(event))
    # `prev` hashes the instant of the line before. Two replays of one deliberation differ in both and agree in
    # content.
    del fields["prev"], fields["at"]
    call: dict[str, Any] | None = fields["call"]
    for measured in (call, *call["attempts"]) if call else ():
        for key in MEASURED:
            measured.pop(key, None)
    return fields


def _claim_statuses(state: State) -> dict[str, str]:
    return {identity: facts.status for identity, facts in state.claims.items()}


def _align(a: Book, b: Book, kind: type[Claim] | type[Decision]) -> Alignment:
    def words(book: Book) -> Iterator[Any]:
        return (alignable(event) for event in book.of(kind))

    return align(words(a), words(b))


def _differences(
    alignment: Alignment, statuses_a: Mapping[str, str], statuses_b: Mapping[str, str]
) -> Differences:
    def matched_by(how: str) -> Callable[[Pair], Matched]:
        return lambda pair: Matched(
            a=pair.a, b=pair.b, how=how, status_a=statuses_a[pair.a], status_b=statuses_b[pair.b]
        )

    matched = [
        *map(matched_by("identical"), alignment.identical),
        *map(matched_by("text"), alignment.matched),
    ]
    return Differences(
        only_a=list(alignment.only_a),
        only_b=list(alignment.only_b),
        changed=[pair for pair in matched if pair.status_a != pair.status_b],
        matched=matched,
        similar=[
            Similar(a=pair.a, b=pair.b, similarity=round(float(pair.similarity), 2))
            for pair in alignment.similar
        ],
    )


def _cost(state: State) -> Cost:
    spend = state.spend
    return Cost(
        calls=spend.calls,
        tokens_in=spend.tokens_in,
        tokens_cached=spend.tokens_cached,
        tokens_out=spend.tokens_out,
        usd=spend.usd,
        unpriced=spend.unpriced,
    )


def _named(event: Event | None) -> str | None:
    return None if event is None else f"{event.kind} {event.ref}"
