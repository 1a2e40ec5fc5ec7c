"""What the brief of a step has shown, and what a reply may therefore name (FORMAT 5, law 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ledger.anchors import contains_quote, passages, sections_of
from ledger.book import Book
from ledger.events import Event, RunOpened
from ledger.ids import parse_reference
from ledger.state import State
from roles.protocol import Step
from roles.replies import Cited


class Known(msgspec.Struct, frozen=True):
    """What the brief of a step has shown: the only things its reply may name."""

    state: State
    opened: RunOpened
    step: Step
    by_id: Mapping[str, Event]
    documents: bool
    book: Book

    def unknown(self, identity: str) -> bool:
        """Whether an id was not quoted; roles, goals and options are known to everybody who sees them."""
        return identity not in self.by_id

    def goal_problem(self, goal: str | None, where: str) -> Iterator[str]:
        """Complain about a goal that does not exist."""
        if goal is not None and goal not in {entry.id for entry in self.opened.goals}:
            yield f"{where}: goal {goal!r} is unknown; goals are {names(entry.id for entry in self.opened.goals)}"

    def option_problems(self, options: Iterable[str], where: str) -> Iterator[str]:
        """Complain about options that do not exist."""
        known = {entry.id for entry in self.opened.options}
        for option in options:
            if option not in known:
                yield f"{where}: option {option!r} is unknown; options are {names(known) or 'none'}"

    def reference_problems(self, text: str, where: str, quote: str | None = None) -> Iterator[str]:
        """Complain about a ref that was not quoted or does not resolve, and about a quote that is not there."""
        reference = parse_reference(text)
        shown = self.documents if reference.id.startswith("K-") else reference.id in self.by_id
        values = passages(reference, self.by_id, self.opened, self.book.blobs) if shown else None
        if values is None:
            yield f"{where}: {text!r} is unknown{self._sections_hint(reference.id)}"
        elif quote is not None and not contains_quote(values, quote):
            yield f"{where}: the quote does not stand word for word at {text}"

    def evidence_problems(self, evidence: Iterable[Cited], where: str) -> Iterator[str]:
        """Complain about each piece of evidence that does not hold."""
        for n, cited in enumerate(evidence):
            yield from self.reference_problems(cited.ref, f"{where}[{n}]", cited.quote)

    def _sections_hint(self, identity: str) -> str:
        event = self.by_id.get(identity)
        if event is None or not sections_of(event):
            return ""
        return f"; sections of {identity} are {names(sections_of(event))}"


def known_to(book: Book, step: Step, saw: frozenset[int], *, documents: bool) -> Known:
    """What the brief that quoted the events `saw` has shown; `documents`: the context documents too."""
    opened = book.state.opened
    assert opened is not None, "no run is open"
    shown = {event.id: event for event in book.events if event.seq in saw and event.id is not None}
    return Known(book.state, opened, step, shown, documents, book)


def names(values: Iterable[str]) -> str:
    """Words joined by commas."""
    return ", ".join(values)


def repeated(values: Iterable[str | int], where: str) -> Iterator[str]:
    """Complain about what is given twice."""
    seen: set[str | int] = set()
    for value in values:
        if value in seen:
            yield f"{where}: {value!r} is given twice"
        seen.add(value)


def ids_problems(known: Known, ids: Iterable[str], where: str) -> Iterator[str]:
    """Complain about ids that were not quoted."""
    for identity in ids:
        if known.unknown(identity):
            yield f"{where}: {identity!r} is unknown"
