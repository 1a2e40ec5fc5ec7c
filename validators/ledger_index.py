"""Index of a ledger: a book with data that several rules read, computed in one walk.

It holds which steps were open when, and how a claim stood at any time. A ledger that breaks the order of rounds gives
no openings from there on: the rules of order report it, and the others judge the rest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from ledger.events import (
    Claim,
    Decision,
    Event,
    ExperimentJudged,
    RunOpened,
    StreamName,
    Verification,
    stream_of,
)
from ledger.events.envelope import Status
from ledger.events.ids import Reference, StepName, kind_of, parse_reference, parse_step
from ledger.state.amendments import redacted_blobs, reworded
from ledger.state.book import Book, Sections, passages, sections_of
from ledger.state.fold import step as take
from ledger.state.state import State
from ledger.store.failures import Problem
from roles.asof import Openings, stands_for
from roles.protocol import Protocol as Table, opening_problem
from validators.finding import Installs, RuleFinding, verdicts_as_given

ReadSignals = Callable[..., Any]
"""(book, profile, at) → the report of the six signals over that prefix, with the fields of the JSON output."""


class RuleContext(msgspec.Struct, frozen=True):
    """Inputs that the caller gives the rules, so that they import no protocol table and no detector.

    `unknown`: seq → fields that this version does not know. `installs` says by which
    thresholds a recorded verdict can be recomputed.
    Inputs that are None or empty are not judged.
    """

    protocol: Table | None = None
    signals: ReadSignals | None = None
    installs: Installs | None = None
    unknown: Mapping[int, tuple[str, ...]] = msgspec.field(default_factory=dict[int, tuple[str, ...]])
    screenings: Callable[[Book], tuple[Event, ...]] | None = None
    """(a book of the opening alone) → the screenings that are due."""
    ledger_problems: tuple[Problem, ...] = ()
    run: str = ""


class LedgerIndex:
    """Index that the rules read. `findings` holds what earlier rules reported, `recorded` the part a run records."""

    def __init__(self, book: Book, context: RuleContext, rules_hash: str = "") -> None:
        self.book = book
        self.context = context
        self.events = book.events
        first = book.events[0] if book.events else None
        self.opened: RunOpened | None = book.state.opened if isinstance(first, RunOpened) else None
        """The opening in force: a fork's own replaces its parent's."""
        self.imported_through = _imported_through(book.events)
        """Seq of the last event that an import wrote, -1 without any: a fork may go on after them."""
        self.rules_hash = rules_hash
        installs = context.installs
        self.as_given = verdicts_as_given(book, rules_hash, installs) if installs else frozenset[int]()
        """Seqs of verdicts that other rules or thresholds gave."""
        self.findings: list[RuleFinding] = []
        self.recorded: list[RuleFinding] = []
        self.unjudged: list[str] = []
        """Codes of rules that could not be judged on this ledger, because it breaks others."""
        self.pairs = tuple((event, parse_step(event.step) if event.step else None) for event in self.events)
        """Every event with its step."""
        self._lines: Mapping[int, tuple[StreamName, int]] = _lines(self.events)
        self.opening_problem: str | None = None
        """What the opening says that its protocol cannot run; no step is known then."""
        self.absent_rules: tuple[str, ...] = ()
        """Variants that the opening does not name: behaviour that did not exist then, or a gap in the opening."""
        if self.opened is not None and context.protocol is not None:
            self.opening_problem = opening_problem(context.protocol, self.opened)
            named = self.opened.rules
            self.absent_rules = tuple(rule for rule in context.protocol.variants if rule not in named)
        if self.opening_problem is not None:
            # An opening that its protocol cannot run makes every step unknown. ORD001 reports it, and step
            # rules stay silent.
            self.context = msgspec.structs.replace(context, protocol=None)
        self._history: dict[str, list[tuple[int, Status]]] = {}
        self._passages: dict[Reference, tuple[str, ...] | None] = {}
        self._sections: dict[int, Sections] = {}
        self.reworded = frozenset(seq for event in book.state.amendments for seq in reworded(event))
        """Seqs of events in which words were replaced when a redacted copy was made."""
        self._redacted = frozenset(
            sha256 for event in book.state.amendments for sha256 in redacted_blobs(event)
        )
        # An import has no steps, so no opening of a step can be known.
        known = self.opened is not None and self.opened.origin.type != "import"
        self.openings = Openings(self.context.protocol if known else None, self.opened)
        """Which steps were open when."""
        self._walk()

    @property
    def roles(self) -> tuple[str, ...]:
        """Return the roles of the cast, in protocol order."""
        return tuple(member.role for member in self.opened.cast) if self.opened else ()

    @property
    def authors(self) -> tuple[str, ...]:
        """Return the roles that write: all but the neutral verifier."""
        return tuple(role for role in self.roles if role != "verifier")

    @property
    def watched(self) -> bool:
        """Return whether the run follows the protocol whose phases, checks and stress rounds SD describes."""
        return self.context.protocol is not None and self.context.protocol.watched

    def place_of(self, seq: int | None) -> tuple[StreamName | None, int | None]:
        """Return the stream and line of an event; (None, None) where there is no event."""
        place = self._lines.get(seq) if seq is not None else None
        return place or (None, None)

    def sound_through(self) -> int:
        """Return the last event before the first one at which a recorded rule reported an error."""
        errors = [finding.seq or 0 for finding in self.recorded if finding.severity == "error"]
        return min(errors, default=len(self.events)) - 1

    def earlier(self, identity: str, before: int) -> Event | None:
        """Return the event with this id, if it precedes seq `before`."""
        event = self.book.by_id.get(identity)
        return event if event is not None and event.seq < before else None

    def status_at(self, claim: str, through: int) -> Status | None:
        """Return the status of a claim after event `through`; None when it was not raised by then."""
        history = self._history.get(claim, [])
        # Statuses are stored where they change. Rules ask for many moments, and a replay for each would be
        # quadratic.
        count = bisect_right(history, through, key=lambda entry: entry[0])
        return history[count - 1][1] if count else None

    def changes(self, claim: str) -> Iterator[tuple[int, Status, int | None]]:
        """Yield (seq, status, seq of the next change) of a claim, in order of seq."""
        history = self._history.get(claim, [])
        for (seq, status), (after, _) in pairwise(history):
            yield seq, status, after
        if history:
            yield *history[-1], None

    def stood_at_opening(self, claim: str, event: Event) -> Status | None:
        """Return the status that a claim had for `event` (FORMAT 2).

        It is that when the step of `event` opened, or just before an event without a step.

        None when the claim was not raised by then, or when the event's step is not known to have opened.
        """
        through = stands_for(self.openings.of, event.step) if event.step else event.seq - 1
        return None if through is None else self.status_at(claim, through)

    def passages(self, ref: str, before: int) -> tuple[str, ...] | None:
        """Return the texts at a reference as they were before seq `before`; None when it does not resolve."""
        reference = parse_reference(ref)
        if self.opened is None:
            return None
        if kind_of(reference.id) != "document" and self.earlier(reference.id, before) is None:
            return None
        # An empty tuple means that the reference resolves and nothing can be quoted, unlike None, which is an
        # error.
        if self._redacted and self.was_redacted(ref):
            return ()
        # Several rules resolve the same reference. Reading a document anew each time would dominate a check.
        if reference not in self._passages:
            self._passages[reference] = passages(
                reference, self.book.by_id, self.opened, self.book.blobs, self.sections
            )
        return self._passages[reference]

    def was_redacted(self, ref: str) -> bool:
        """Return whether a reference leads into a document whose bytes were removed on the record."""
        name = ref.partition("#")[0]
        documents = self.opened.context if self.opened else ()
        return any(document.id == name and document.sha256 in self._redacted for document in documents)

    @property
    def lacks_a_document(self) -> bool:
        """Return whether a document was removed on the record, so that quotes from it cannot be checked."""
        return any(
            document.sha256 in self._redacted for document in (self.opened.context if self.opened else ())
        )

    def is_imported(self, seq: int) -> bool:
        """Return whether an event is part of what was imported."""
        return seq <= self.imported_through

    def was_reworded(self, event: Event, ref: str) -> bool:
        """Return whether words of `event`, or of the event behind its reference, were replaced on the record."""
        other = self.book.by_id.get(parse_reference(ref).id)
        return event.seq in self.reworded or (other is not None and other.seq in self.reworded)

    def sections(self, event: Event) -> Sections:
        """Return the sections of an event of this book."""
        known = self._sections.get(event.seq)
        if known is None:
            known = self._sections[event.seq] = sections_of(event)
        return known

    def _walk(self) -> None:
        state = State()
        for event in self.events:
            self.openings.before(event, state)
            # Openings are read before and after each event, because a step opens with the event that completes
            # its predecessors.
            take(state, event)
            self._note_statuses(event, state)
            self.openings.after(event, state)

    def _note_statuses(self, event: Event, state: State) -> None:
        touched: tuple[str | None, ...] = ()
        if isinstance(event, Verification):
            touched = tuple(change.claim_id for change in event.claim_status_changes)
        elif isinstance(event, ExperimentJudged):
            touched = tuple(change.claim_id for change in event.changes)
        elif isinstance(event, Decision):
            touched = event.claims  # tested by a person
        elif isinstance(event, Claim):
            touched = (event.id, event.supersedes)
        for identity in touched:
            facts = state.claims.get(identity or "")
            if identity is not None and facts is not None:
                history = self._history.setdefault(identity, [])
                # Only changes are kept, so a re-test with the same outcome adds no entry.
                if not history or history[-1][1] != facts.status:
                    history.append((event.seq, facts.status))


def _imported_through(events: tuple[Event, ...]) -> int:
    first = events[0] if events else None
    if not (isinstance(first, RunOpened) and first.origin.type == "import"):
        return -1
    # A fork of an import goes on with live events, which are judged in full from its own opening on.
    own = (event.seq for event in events if isinstance(event, RunOpened) and event.origin.type == "fork")
    return next(own, len(events)) - 1


def _lines(events: tuple[Event, ...]) -> dict[int, tuple[StreamName, int]]:
    counts: Counter[StreamName] = Counter()
    places: dict[int, tuple[StreamName, int]] = {}
    for event in events:
        stream = stream_of(event)
        counts[stream] += 1
        places[event.seq] = (stream, counts[stream])
    return places


def group_key(name: StepName) -> tuple[int, str, str]:
    """Return (round, phase, act) of a step's group: checks 1, 2 and 4 are one group (FORMAT 4)."""
    act = name.act or ""
    return (name.round, name.phase, "checks" if act in ("check1", "check2", "check4") else act)


def is_reply(event: Event) -> bool:
    """Return whether `event` carries the call of a step's reply."""
    return event.call is not None and event.step is not None
