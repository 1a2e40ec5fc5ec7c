"""Alignment of the texts of two runs: identical, matched or merely similar (FORMAT 11).

identical   the same id and the same line: a shared prefix, a fork
matched     the same words after NFC, case folding and collapsing white space
similar     tokens overlap by at least 0.6; shown with the number, never treated as the same
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from ledger.events import Claim, Decision
from ledger.events.ids import number_of, round_of
from ledger.format.canonical import encode, line_hash
from ledger.language.words import tokens

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
    """One-to-one alignment: every id is in at most one pair. `only_a` and `only_b` are those neither identical nor
    matched.
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
    """Return the text in NFC, case-folded, with white space collapsed."""
    # Case folding can decompose letters again, so the result is normalized a second time.
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(folded.split())


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
    kept = {item.id for item in left.values() if item.text and _text(right, item.id) == item.text}
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


def _text(table: Mapping[str, Alignable], identity: str) -> str | None:
    return table[identity].text if identity in table else None


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
