"""What was handed in, phase by phase: the body of a report on a run of a short protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.interchange.markdown import inline
from ledger.interchange.transcript import entry
from ledger.state.book import Book

TOLD: Final = frozenset(
    {
        "statement",
        "assumption",
        "argument",
        "concern",
        "rating",
        "position",
        "challenge",
        "response",
        "disposition",
        "vote",
        "ruling",
        "score",
        "standing",
        "fallback",
    }
)
"""Kinds that tell what happened; decisions stand before, what the controller checks is left to `moot log`."""


def exchange(book: Book) -> Iterator[str]:
    """Every record with its words, under a heading for each round and phase."""
    place: tuple[int, str] | None = None
    for event in book.events:
        if event.kind not in TOLD:
            continue
        if (event.round, event.phase) != place:
            place = (event.round, event.phase)
            yield f"### Round {event.round}: {inline(event.phase)}"
            yield ""
        yield entry(event, book)
        yield ""
