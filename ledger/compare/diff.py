"""Differences between two runs: claims and how they ended, decisions, cost, and where the ledgers part (FORMAT 11).

Texts are aligned one to one:

identical   the same id and the same line: a shared prefix, a fork
matched     the same words after NFC, case folding, collapsing white space and without a final full stop
similar     tokens overlap by at least 0.6; shown with the number, never treated as the same
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import orjson

from ledger.events import Claim, Decision, Event
from ledger.events.ids import number_of, round_of
from ledger.format.canonical import encode, line_hash
from ledger.language.words import tokens
from ledger.plain_json import converted
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import standings
from ledger.state.state import State

SIMILAR_FROM: Final = Fraction(6, 10)


@dataclass(frozen=True, slots=True)
class Alignable:
    """Claim or decision as alignment sees it. `tokens` are those of text and `testable_as` together."""

    id: str
    line: str
    text: str
    tokens: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that belong together; `similarity` is a token Jaccard index, 1 for identical and matched ones."""

    a: str
    b: str
    similarity: Fraction


@dataclass(frozen=True, slots=True)
class Alignment:
    """One-to-one alignment: every id is in at most one pair.

    `only_a` and `only_b` are those neither identical nor matched.
    """

    identical: tuple[Pair, ...]
    matched: tuple[Pair, ...]
    similar: tuple[Pair, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def alignable(event: Claim | Decision) -> Alignable:
    """Return what alignment needs of an event."""
    text = normal(event.text)
    other = normal(event.testable_as) if isinstance(event, Claim) else ""
    used = frozenset(tokens(f"{text} {other}"))
    return Alignable(event.id, line_hash(encode(event)), text, used)


def normal(text: str) -> str:
    """Return the text in NFC, case-folded, with white space collapsed and without a final full stop."""
    # Case folding can decompose letters again, so the result is normalized a second time.
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(folded.split()).rstrip(" .。")


def align(a: Iterable[Alignable], b: Iterable[Alignable]) -> Alignment:
    """Align two runs' claims, or their decisions."""
    left = {item.id: item for item in sorted(a, key=_order)}
    right = {item.id: item for item in sorted(b, key=_order)}
    identical = [
        Pair(item.id, item.id, Fraction(1))
        for item in left.values()
        if item.id in right and right[item.id].line == item.line
    ]
    _remove(left, right, identical)
    matched = _same_text(left, right)
    _remove(left, right, matched)
    only_a, only_b = tuple(left), tuple(right)
    similar = _alike(tuple(left.values()), tuple(right.values()))
    return Alignment(tuple(identical), tuple(matched), tuple(similar), only_a, only_b)


def _order(item: Alignable) -> tuple[int, int, str]:
    return round_of(item.id) or 0, number_of(item.id), item.id


def _remove(left: dict[str, Alignable], right: dict[str, Alignable], pairs: Sequence[Pair]) -> None:
    for pair in pairs:
        del left[pair.a], right[pair.b]


def _same_text(left: dict[str, Alignable], right: dict[str, Alignable]) -> list[Pair]:
    """Pair equal normalized texts: first under the same id, then in order of appearance. Empty texts never match."""
    texts = {identity: item.text for identity, item in right.items() if item.text}
    kept = {item.id for item in left.values() if texts.get(item.id) == item.text}
    waiting: dict[str, list[str]] = defaultdict(list)
    # Reversed, so that `pop` below takes the earliest text first in constant time.
    for other in reversed(right.values()):
        if other.id not in kept:
            waiting[other.text].append(other.id)
    pairs: list[Pair] = []
    for item in left.values():
        if item.id in kept:
            pairs.append(Pair(item.id, item.id, Fraction(1)))
        elif item.text and waiting.get(item.text):
            pairs.append(Pair(item.id, waiting[item.text].pop(), Fraction(1)))
    return pairs


def _alike(left: Sequence[Alignable], right: Sequence[Alignable]) -> list[Pair]:
    """Choose pairs greedily among the candidates, by (similarity descending, id a, id b)."""
    candidates = _candidates(left, right)
    candidates.sort(key=lambda candidate: (-candidate[0], _order(candidate[1]), _order(candidate[2])))
    taken_a: set[str] = set()
    taken_b: set[str] = set()
    pairs: list[Pair] = []
    for similarity, item, other in candidates:
        if item.id not in taken_a and other.id not in taken_b:
            taken_a.add(item.id)
            taken_b.add(other.id)
            pairs.append(Pair(item.id, other.id, similarity))
    return pairs


def _candidates(
    left: Sequence[Alignable], right: Sequence[Alignable]
) -> list[tuple[Fraction, Alignable, Alignable]]:
    """Return every pair that is similar enough."""
    by_size: dict[int, list[Alignable]] = defaultdict(list)
    for other in right:
        by_size[len(other.tokens)].append(other)
    candidates: list[tuple[Fraction, Alignable, Alignable]] = []
    least = SIMILAR_FROM
    for item in left:
        size = len(item.tokens)
        for other_size, others in by_size.items():
            # A Jaccard index cannot exceed the ratio of the sizes, so most pairs need no set intersection.
            if not size or min(size, other_size) < SIMILAR_FROM * max(size, other_size):
                continue
            for other in others:
                common = len(item.tokens & other.tokens)
                whole = size + other_size - common
                # Whole numbers decide: a float quotient could fall on either side of the limit on another
                # machine.
                if common * least.denominator >= whole * least.numerator:
                    candidates.append((Fraction(common, whole), item, other))
    return candidates


MEASURED: Final = ("cost_usd", "latency_ms")
"""Keys of a call with its duration and cost, which are no part of its content."""


class Matched(Result, frozen=True):
    """The same thing in both runs, with its place in each. `how` is identical or text."""

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


class Cost(Result, frozen=True, kw_only=True):
    """Cost of calls.

    `usd` covers those whose cost is known, null where none is; `unpriced` counts the others. Tokens leave out unknown
    counts.
    """

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
        cost=converted({"a": a.state.spend, "b": b.state.spend}, Costs, from_attributes=True),
    )


def first_divergence(a: tuple[Event, ...], b: tuple[Event, ...]) -> Parting | None:
    """Return where two ledgers part: the lowest seq at which their events differ in content."""
    for seq in range(max(len(a), len(b))):
        event = a[seq] if seq < len(a) else None
        other = b[seq] if seq < len(b) else None
        if event is None or other is None or content(event) != content(other):
            return Parting(seq, _named(event), _named(other))
    return None


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
    return align(map(alignable, a.of(kind)), map(alignable, b.of(kind)))


def _differences(
    alignment: Alignment, statuses_a: Mapping[str, str], statuses_b: Mapping[str, str]
) -> Differences:
    matched = [
        Matched(pair.a, pair.b, how, statuses_a[pair.a], statuses_b[pair.b])
        for how, pairs in (("identical", alignment.identical), ("text", alignment.matched))
        for pair in pairs
    ]
    return Differences(
        only_a=list(alignment.only_a),
        only_b=list(alignment.only_b),
        changed=[pair for pair in matched if pair.status_a != pair.status_b],
        matched=matched,
        similar=[Similar(pair.a, pair.b, round(float(pair.similarity), 2)) for pair in alignment.similar],
    )


def _named(event: Event | None) -> str | None:
    return None if event is None else f"{event.kind} {event.ref}"
