"""Parts of annexes: a titled table or text that a protocol adds to its decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ledger.plain_text import shortened
from ledger.result import Result


class Annex(Result, frozen=True):
    """A titled table (`heads`, `rows` of as many cells) with `notes` above it, or `paragraphs` of text from `ref`."""

    title: str
    notes: list[str]
    heads: list[str]
    rows: list[list[str]]
    paragraphs: list[str]
    ref: str | None


CELL: Final = 200
"""Maximum characters of a cell; a cut text ends in … and can be read in full under its id."""


def annex_table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *notes: str
) -> Iterator[Annex]:
    """Yield a table without its empty columns; nothing when there are no rows."""
    # A column that no row fills would only take width from those that matter.
    used = [n for n in range(len(heads)) if any(row[n] for row in rows)]
    if rows:
        yield Annex(
            title=title,
            notes=[note for note in notes if note],
            heads=[heads[n] for n in used],
            rows=[[row[n] for n in used] for row in rows],
            paragraphs=[],
            ref=None,
        )


def annex_text(title: str, paragraphs: Sequence[str], ref: str | None) -> Iterator[Annex]:
    if paragraphs:
        yield Annex(title=title, notes=[], heads=[], rows=[], paragraphs=list(paragraphs), ref=ref)


def cell(text: str) -> str:
    """Return the words of a text that fit into a cell."""
    return shortened(text, CELL)
