"""Scores: one row per argument or option that a judge scored or ruled on, in any protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from ledger.events import Argument, Score, Standing
from ledger.state.book import Book
from moot.view import marks
from moot.view.marks import Mark

JUDGED: Final = {
    "UPHELD": "upheld",
    "PARTIALLY_UPHELD": "partly upheld",
    "REFUTED": "refuted",
    "UNCERTAIN": "uncertain",
    "SURVIVE": "survives",
    "COLLAPSE": "collapses",
}
"""Standing → its words."""


class ScoreRow(msgspec.Struct, frozen=True):
    """A scored argument or option: id, label with side, text; totals and standings in judging order; reasons."""

    of: str
    label: str
    text: str
    totals: tuple[str, ...]
    stands: tuple[Mark, ...]
    fallacies: tuple[str, ...]
    because: tuple[str, ...]


def scores_of(book: Book) -> tuple[ScoreRow, ...]:
    """Return everything with a score or a standing, in the order of the first judgement."""
    # A dict keeps the order of the first judgement.
    judged: dict[str, list[Score | Standing]] = {}
    for event in book.events:
        if isinstance(event, Score | Standing):
            judged.setdefault(event.of, []).append(event)
    options = {option.id: option.text for option in book.state.opening.options}
    return tuple(_row(book, of, events, options.get(of, "")) for of, events in judged.items())


def _row(book: Book, of: str, events: list[Score | Standing], option: str) -> ScoreRow:
    scored = book.by_id.get(of)
    argument = scored if isinstance(scored, Argument) else None
    return ScoreRow(
        of=of,
        label=_label(argument) if argument else "",
        text=argument.claim if argument else option,
        totals=tuple(event.total for event in events if isinstance(event, Score)),
        stands=tuple(_stands(event) for event in events if isinstance(event, Standing)),
        fallacies=tuple(_fallacies(events)),
        because=tuple(_because(events)),
    )


def _label(argument: Argument) -> str:
    """Return `PRO-1`, with the side where the label does not begin with it."""
    label, side = argument.label, argument.side
    # Labels such as PRO-1 carry their side already (XS-2).
    return label if label.casefold().startswith(side.casefold()) else f"{label} ({side})"


def _stands(event: Standing) -> Mark:
    return Mark("◆", JUDGED[event.standing], marks.STANDINGS.get(event.standing, "warn"))


def _fallacies(events: list[Score | Standing]) -> Iterator[str]:
    for event in events:
        if isinstance(event, Score):
            yield from event.fallacies


def _because(events: list[Score | Standing]) -> Iterator[str]:
    for event in events:
        text = event.notes if isinstance(event, Score) else event.reason
        if text:
            yield text
