"""What became of a decision later, as a person says it on the ledger: it held, it failed, or something between."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

from ledger.events import Amendment
from ledger.state.book import Book

Fate = Literal["held", "failed", "mixed", "unknown"]
FATES: Final[tuple[Fate, ...]] = get_args(Fate)
PATH: Final = "became."
"""Begins the path of the note; the decision's id follows."""


class FateSaid(NamedTuple):
    """`text` is what the person saw; `at` when it was written down; `seq` where."""

    decision: str
    fate: Fate
    text: str
    name: str | None
    at: str
    seq: int


def fate_of(word: object) -> Fate | None:
    """The word as one of them; None for any other."""
    return next((fate for fate in FATES if fate == word), None)


def became_of(book: Book) -> dict[str, FateSaid]:
    """Decision → what was said of it last, in the order in which decisions were first spoken of."""
    found: dict[str, FateSaid] = {}
    for event in book.of(Amendment):
        for change in event.change:
            fate = fate_of(change.to)
            if event.cause == "human" and change.path.startswith(PATH) and fate is not None:
                decision = change.path.removeprefix(PATH)
                found[decision] = FateSaid(decision, fate, event.reason, event.name, event.at, event.seq)
    return found
