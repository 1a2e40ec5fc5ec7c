"""What telling a run looks things up in: its rounds, what closed a concern, the sections of its artifacts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ledger.events import Decision, Disposition, Event
from ledger.state.book import Book
from moot.view.evidence_tree import Sectioned, remembered


@dataclass(frozen=True, slots=True)
class Sources:
    """What telling looks things up in, found once for a book: its rounds, and what closed a concern.

    Whoever follows a run that grows keeps one and adds to it: no part of it ever changes its meaning.
    """

    by_round: dict[int, list[Event]] = field(default_factory=dict[int, list[Event]])
    closers: dict[str, str] = field(default_factory=dict[str, str])
    """Concern → the decision or disposition that closed it."""
    sections: Sectioned = field(default_factory=remembered)

    def take(self, events: Iterable[Event]) -> None:
        """Take in what follows."""
        for event in events:
            if event.phase != "close":
                self.by_round.setdefault(event.round, []).append(event)
            if isinstance(event, Disposition):
                self.closers.setdefault(event.of, f"@{event.seq}")
            elif isinstance(event, Decision):
                for cite in event.cites:
                    if cite.relation == "resolves":
                        self.closers.setdefault(cite.id, event.id or "")

    def round_of(self, book: Book, round_: int) -> Book:
        """The same book with the events of one round alone; state and ids are those of the whole."""
        return Book(tuple(self.by_round.get(round_, ())), book.state, book.by_id, book.blobs)


def sources_of(book: Book) -> Sources:
    """The sources of a whole book."""
    sources = Sources()
    sources.take(book.events)
    return sources
