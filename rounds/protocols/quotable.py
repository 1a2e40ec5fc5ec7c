"""What the brief of a step has shown, and what a reply may therefore name (FORMAT 5, law 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from ledger.events import Challenge, Event, ExperimentPlanned, RunOpened
from ledger.events.ids import parse_reference
from ledger.state.anchors import contains_quote, passages, sections_of, written
from ledger.state.book import Book
from ledger.state.state import State
from roles.protocol import Step
from roles.replies import Cited


class Quotable(msgspec.Struct, frozen=True):
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

    def ids_of(self, kind: type[Event], but_by: str | None = None) -> list[str]:
        """Ids of the events of a kind that were quoted, but for those that a role wrote."""
        return [
            identity
            for identity, event in self.by_id.items()
            if isinstance(event, kind) and event.by != but_by
        ]

    def goal_problem(self, goal: str | None, where: str) -> Iterator[str]:
        """Complain about a goal that does not exist."""
        if goal is not None and goal not in {entry.id for entry in self.opened.goals}:
            yield f"{where}: goal {goal!r} is unknown; goals are {names(entry.id for entry in self.opened.goals)}"

    def option_problems(self, options: Iterable[str], where: str) -> Iterator[str]:
        """Complain about options that do not exist."""
        known = {entry.id for entry in self.state.options}
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
        elif quote is not None and not contains_quote((*values, *self._written(reference.id)), quote):
            yield f"{where}: the quote does not stand word for word at {text}"

    def _written(self, identity: str) -> tuple[str, ...]:
        """What a program wrote stands with its plan."""
        if not isinstance(self.by_id.get(identity), ExperimentPlanned):
            return ()
        return tuple(text for text in written(self.book, identity) if text)

    def evidence_problems(self, evidence: Iterable[Cited], where: str) -> Iterator[str]:
        """Complain about each piece of evidence that does not hold."""
        for n, cited in enumerate(evidence):
            yield from self.reference_problems(cited.ref, f"{where}[{n}]", cited.quote)

    def _sections_hint(self, identity: str) -> str:
        event = self.by_id.get(identity)
        if event is None or not sections_of(event):
            return ""
        return f"; sections of {identity} are {names(sections_of(event))}"


def known_to(book: Book, step: Step, saw: frozenset[int], *, documents: bool) -> Quotable:
    """What the brief that quoted the events `saw` has shown; `documents`: the context documents too."""
    opened = book.state.opening
    shown = {event.id: event for event in book.events if event.seq in saw and event.id is not None}
    return Quotable(book.state, opened, step, shown, documents, book)


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


def out_of_order(severities: Sequence[int], where: str) -> Iterator[str]:
    """Complain about the first one that is heavier than the one before it: a rank is a claim about weight (AD-4)."""
    for n, (before, here) in enumerate(pairwise(severities), 1):
        if here > before:
            yield f"{where}[{n}].severity: heavier than the one before it; put the heaviest first"
            return


def ids_problems(known: Quotable, ids: Iterable[str], where: str) -> Iterator[str]:
    """Complain about ids that were not quoted."""
    for identity in ids:
        if known.unknown(identity):
            yield f"{where}: {identity!r} is unknown"


def exactly_one(named: Iterable[str], wanted: Iterable[str], where: str, what: str) -> Iterator[str]:
    """Complain when not everything that is wanted is named, and each exactly once."""
    wanted = sorted(wanted)
    if sorted(named) != wanted:
        yield f"{where}: exactly one for each {what} is wanted: {names(wanted) or 'none'}"


def no_new_evidence(known: Quotable, challenge: str, given: tuple[Cited, ...], where: str) -> Iterator[str]:
    """Complain about a defence that cites nothing which the challenge has not cited already (AD-20, AD-21)."""
    event = known.by_id.get(challenge)
    if isinstance(event, Challenge):
        old = {entry.ref for entry in event.evidence}
        if not any(entry.ref not in old for entry in given):
            yield f"{where}: a defence brings at least one reference that the challenge has not cited"
