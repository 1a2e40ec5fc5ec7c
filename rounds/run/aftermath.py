"""Fate of a decision, as a person records it later: it held, it failed, or something between."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

from ledger.events import Amendment
from ledger.state.book import Book

Fate = Literal["held", "failed", "mixed", "unknown"]
FATES: Final[tuple[Fate, ...]] = get_args(Fate)
PATH: Final = "became."
"""Prefix of the note's path; the decision's id follows."""


class FateSaid(NamedTuple):
    """A person's word on what became of a decision; `at` is the time of its event and `seq` its place."""

    decision: str
    fate: Fate
    text: str
    name: str | None
    at: str
    seq: int


def fate_of(word: object) -> Fate | None:
    """Return the word as a fate; None for any other."""
    return next((fate for fate in FATES if fate == word), None)


def became_of(book: Book) -> dict[str, FateSaid]:
    """Map each decision to the last word on it, in the order of the first words."""
    fates: dict[str, FateSaid] = {}
    for event in book.of(Amendment):
        for change in event.change:
            fate = fate_of(change.to)
            # The controller writes amendments too; only a person's note says what became of a decision.
            if event.cause == "human" and change.path.startswith(PATH) and fate is not None:
                decision = change.path.removeprefix(PATH)
                fates[decision] = FateSaid(decision, fate, event.reason, event.name, event.at, event.seq)
    return fates
