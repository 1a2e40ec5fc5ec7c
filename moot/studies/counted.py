"""What can be counted in any run: assumptions, how many of them differ, objections, and what was left to a person.

Two assumptions are the same when they share so many of their long words: the share is that of the shorter one. The
procedure is crude and the same for every arm; it knows no synonyms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ledger.events import Assumption, Disposition
from ledger.state.book import Book

SHARED: Final = 0.6
"""The share of the shorter assumption's long words that makes two the same."""
LONG: Final = re.compile(r"[^\W\d_]{4,}")


def counts_in(book: Book) -> Mapping[str, float]:
    """Measure → number; empty for a protocol that has neither assumptions nor objections."""
    assumptions = [one.text for one in book.of(Assumption)]
    disposed = [one.disposition for one in book.of(Disposition)]
    if not assumptions and not disposed:
        return {}
    return {
        "assumptions": float(len(assumptions)),
        "assumptions that differ": float(len(distinct(assumptions))),
        "objections": float(len(disposed)),
        "left to a person": float(disposed.count("escalated")),
    }


def distinct(texts: Iterable[str]) -> list[str]:
    """The texts without those that are the same as an earlier one."""
    kept: list[tuple[str, frozenset[str]]] = []
    for text in texts:
        words = frozenset(LONG.findall(text.casefold()))
        if not any(_same(words, other) for _, other in kept):
            kept.append((text, words))
    return [text for text, _ in kept]


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    least = min(len(one), len(other))
    return one == other if least == 0 else len(one & other) >= SHARED * least
