"""Counts of any run: assumptions, distinct assumptions, objections, and objections left to a person.

Two assumptions count as the same when they share at least 60% of the long words of the shorter one. The procedure is
crude and knows no synonyms, but it is the same for every arm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ledger.events import Assumption, Disposition
from ledger.state.book import Book

SHARED: Final = 0.6
"""Share of the shorter assumption's long words from which on two count as the same."""
LONG: Final = re.compile(r"[^\W\d_]{4,}")


def counts_in(book: Book) -> Mapping[str, float]:
    """Return measure → number; empty for a protocol that has neither assumptions nor objections."""
    assumptions = [assumption.text for assumption in book.of(Assumption)]
    disposed = [objection.disposition for objection in book.of(Disposition)]
    if not assumptions and not disposed:
        return {}
    return {
        "assumptions": float(len(assumptions)),
        "assumptions that differ": float(len(distinct(assumptions))),
        "objections": float(len(disposed)),
        "left to a person": float(disposed.count("escalated")),
    }


def distinct(texts: Iterable[str]) -> list[str]:
    """Return the texts without those that are the same as an earlier one."""
    kept: list[tuple[str, frozenset[str]]] = []
    for text in texts:
        words = frozenset(LONG.findall(text.casefold()))
        if not any(_same(words, other) for _, other in kept):
            kept.append((text, words))
    return [text for text, _ in kept]


def _same(first: frozenset[str], second: frozenset[str]) -> bool:
    # Two texts without long words are compared whole, since nothing could be shared.
    least = min(len(first), len(second))
    return first == second if least == 0 else len(first & second) >= SHARED * least
