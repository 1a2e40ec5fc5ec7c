"""Which texts of two runs are the same thing said: identical, matched or merely similar (FORMAT 11).

identical   the same id and the same line: a shared prefix, a fork
matched     the same words after NFC, case folding and collapsing white space
similar     tokens overlap by at least 0.6; shown with the number, never taken for the same
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
    """One claim or decision as alignment sees it. `tokens` are of text and `testable_as` together."""

    id: str
    line: str
    text: str
    tokens: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two that belong together; `similarity` is a token Jaccard index, 1 for identical and matched ones."""

    a: str
    b: str
    similarity: Fraction


@dataclass(frozen=True, slots=True)
class Alignment:
    """One to one: every id is in at most one pair. `only_a` and `only_b` are those neither identical nor matched."""

    identical: tuple[Pair, ...]
    matched: tuple[Pair, ...]
    similar: tuple[Pair, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def alignable(event: Claim | Decision) -> Alignable:
    """What alignment needs of an event."""
    text = normal(event.text)
    other = normal(event.testable_as) if isinstance(event, Claim) else ""
    used = frozenset(tokens(f"{text} {other}"))
    return Alignable(event.id or "", line_hash(encode(event)), text, used)


def normal(text: str) -> str:
    """NFC, case-folded, white space collapsed."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(folded.split())


def align(a: Iterable[Alignable], b: Iterable[Alignable]) -> Alignment:
    """Align two runs' claims, or their decisions."""
    left = {one.id: one for one in sorted(a, key=_order)}
    right = {one.id: one for one in sorted(b, key=_order)}
    identical = [
        Pair(one.id, one.id, Fraction(1))
        for one in left.values()
        if one.id in right and right[one.id].line == one.line
    ]
    _remove(left, right, identical)
    matched = _same_text(left, right)
    _remove(left, right, matched)
    only_a, only_b = tuple(left), tuple(right)
    similar = _alike(tuple(left.values()), tuple(right.values()))
    return Alignment(tuple(identical), tuple(matched), tuple(similar), only_a, only_b)


def _order(one: Alignable) -> tuple[int, int, str]:
    return round_of(one.id) or 0, number_of(one.id), one.id


def _remove(left: dict[str, Alignable], right: dict[str, Alignable], pairs: Sequence[Pair]) -> None:
    for pair in pairs:
        del left[pair.a], right[pair.b]


def _same_text(left: dict[str, Alignable], right: dict[str, Alignable]) -> list[Pair]:
    """Equal normalised texts: first under the same id, then the earlier with the earlier. An empty one matches none."""
    kept = {one.id for one in left.values() if one.text and _text(right, one.id) == one.text}
    waiting: dict[str, list[str]] = defaultdict(list)
    for other in reversed(right.values()):
        if other.id not in kept:
            waiting[other.text].append(other.id)
    pairs: list[Pair] = []
    for one in left.values():
        if one.id in kept:
            pairs.append(Pair(one.id, one.id, Fraction(1)))
        elif one.text and waiting.get(one.text):
            pairs.append(Pair(one.id, waiting[one.text].pop(), Fraction(1)))
    return pairs


def _text(table: Mapping[str, Alignable], identity: str) -> str | None:
    return table[identity].text if identity in table else None


def _alike(left: Sequence[Alignable], right: Sequence[Alignable]) -> list[Pair]:
    """Candidates by token overlap, taken greedily by (similarity descending, id a, id b)."""
    candidates = _candidates(left, right)
    candidates.sort(key=lambda found: (-found[0], _order(found[1]), _order(found[2])))
    taken_a: set[str] = set()
    taken_b: set[str] = set()
    pairs: list[Pair] = []
    for similarity, one, other in candidates:
        if one.id not in taken_a and other.id not in taken_b:
            taken_a.add(one.id)
            taken_b.add(other.id)
            pairs.append(Pair(one.id, other.id, similarity))
    return pairs


def _candidates(
    left: Sequence[Alignable], right: Sequence[Alignable]
) -> list[tuple[Fraction, Alignable, Alignable]]:
    """Every pair that is similar enough. Only texts of comparable size can be: that leaves most pairs out unseen."""
    by_size: dict[int, list[Alignable]] = defaultdict(list)
    for other in right:
        by_size[len(other.tokens)].append(other)
    found: list[tuple[Fraction, Alignable, Alignable]] = []
    least = SIMILAR_FROM
    for one in left:
        size = len(one.tokens)
        for other_size, others in by_size.items():
            if not size or min(size, other_size) < SIMILAR_FROM * max(size, other_size):
                continue
            for other in others:
                common = len(one.tokens & other.tokens)
                whole = size + other_size - common
                if common * least.denominator >= whole * least.numerator:
                    found.append((Fraction(common, whole), one, other))
    return found
