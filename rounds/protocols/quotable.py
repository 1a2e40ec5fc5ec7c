"""Content that the brief of a step has shown, and that its reply may therefore name (FORMAT 5, law 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from ledger.events import Challenge, Event, ExperimentPlanned, RunOpened
from ledger.events.ids import kind_of, parse_reference
from ledger.state.anchors import contains_quote, passages, sections_of, written
from ledger.state.book import Book
from ledger.state.state import State
from roles.protocol import Step
from roles.replies import Cited


class Quotable(msgspec.Struct, frozen=True):
    """Content of a step's brief: the only things its reply may name."""

    state: State
    opened: RunOpened
    step: Step
    by_id: Mapping[str, Event]
    documents: bool
    book: Book

    def unknown(self, identity: str) -> bool:
        """Return whether an id was not quoted; roles, goals and options are known to every role that sees them."""
        return identity not in self.by_id

    def ids_of(self, kind: type[Event], but_by: str | None = None) -> list[str]:
        """Return the ids of the events of a kind that were quoted, except those that a role wrote."""
        return [
            identity
            for identity, event in self.by_id.items()
            if isinstance(event, kind) and event.by != but_by
        ]

    def goal_problem(self, goal: str | None, where: str) -> Iterator[str]:
        """Yield a problem for a goal that does not exist."""
        if goal is not None and goal not in {entry.id for entry in self.opened.goals}:
            yield f"{where}: goal {goal!r} is unknown; goals are {names(entry.id for entry in self.opened.goals)}"

    def option_problems(self, options: Iterable[str], where: str) -> Iterator[str]:
        """Yield a problem for each option that does not exist."""
        known = {entry.id for entry in self.state.options}
        for option in options:
            if option not in known:
                yield f"{where}: option {option!r} is unknown; options are {names(known) or 'none'}"

    def reference_problems(self, text: str, where: str, quote: str | None = None) -> Iterator[str]:
        """Yield problems of a ref that was not quoted or does not resolve, and of a quote that is not there."""
        reference = parse_reference(text)
        # A text that the brief did not show is unknown, even where it exists: a reply must not
        # rest on a guess.
        is_shown = self.documents if kind_of(reference.id) == "document" else reference.id in self.by_id
        values = passages(reference, self.by_id, self.opened, self.book.blobs) if is_shown else None
        if values is None:
            yield f"{where}: {text!r} is unknown{self._sections_hint(reference.id)}"
        elif quote is not None and not contains_quote((*values, *self._written(reference.id)), quote):
            yield f"{where}: the quote does not stand word for word at {text}"

    def _written(self, identity: str) -> tuple[str, ...]:
        """Return a program's output, which belongs to its plan."""
        if not isinstance(self.by_id.get(identity), ExperimentPlanned):
            return ()
        return tuple(text for text in written(self.book, identity) if text)

    def evidence_problems(self, evidence: Iterable[Cited], where: str) -> Iterator[str]:
        """Yield a problem for each piece of evidence that does not hold."""
        for n, cited in enumerate(evidence):
            yield from self.reference_problems(cited.ref, f"{where}[{n}]", cited.quote)

    def _sections_hint(self, identity: str) -> str:
        event = self.by_id.get(identity)
        if event is None or not sections_of(event):
            return ""
        return f"; sections of {identity} are {names(sections_of(event))}"


def known_to(book: Book, step: Step, saw: frozenset[int], *, documents: bool) -> Quotable:
    """Return the content of the brief that quoted the events `saw`; with `documents`, the context documents too."""
    opened = book.state.opening
    quoted = {event.id: event for event in book.events if event.seq in saw and event.id is not None}
    return Quotable(book.state, opened, step, quoted, documents, book)


def names(values: Iterable[str]) -> str:
    """Join words with commas."""
    return ", ".join(values)


def repeated(values: Iterable[str | int], where: str) -> Iterator[str]:
    """Yield a problem for each value that is given twice."""
    seen: set[str | int] = set()
    for value in values:
        if value in seen:
            yield f"{where}: {value!r} is given twice"
        seen.add(value)


def out_of_order(severities: Sequence[int], where: str) -> Iterator[str]:
    """Yield a problem for the first entry that is heavier than the one before: a rank claims a weight (AD-4)."""
    for n, (before, here) in enumerate(pairwise(severities), 1):
        if here > before:
            yield f"{where}[{n}].severity: heavier than the one before it; put the heaviest first"
            # One complaint is enough: after one swap the later entries may be right.
            return


def ids_problems(known: Quotable, ids: Iterable[str], where: str) -> Iterator[str]:
    """Yield a problem for each id that was not quoted."""
    for identity in ids:
        if known.unknown(identity):
            yield f"{where}: {identity!r} is unknown"


def exactly_one(named: Iterable[str], wanted: Iterable[str], where: str, what: str) -> Iterator[str]:
    """Yield a problem unless each wanted name is named exactly once."""
    wanted = sorted(wanted)
    if sorted(named) != wanted:
        yield f"{where}: exactly one for each {what} is wanted: {names(wanted) or 'none'}"


def no_new_evidence(known: Quotable, challenge: str, cited: tuple[Cited, ...], where: str) -> Iterator[str]:
    """Yield a problem for a defense that cites nothing new beyond the challenge (AD-20, AD-21)."""
    event = known.by_id.get(challenge)
    # A challenge that was not quoted is reported elsewhere, as an unknown id.
    if isinstance(event, Challenge):
        old = {entry.ref for entry in event.evidence}
        if not any(entry.ref not in old for entry in cited):
            yield f"{where}: a defence brings at least one reference that the challenge has not cited"
