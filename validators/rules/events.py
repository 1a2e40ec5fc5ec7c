"""Single events, their commits, ids and steps: intact, within the laws of their kind, open when they are answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from ledger.events import Concern, Decision, Event, Fallback, Identified, Statement, Verification
from ledger.events.envelope import Severity
from ledger.events.ids import number_of
from ledger.events.kinds import KINDS, Length
from ledger.events.laws import broken_law, broken_waived_laws
from ledger.state.state import EXPERIMENTS
from validators.finding import Breach
from validators.ledger_index import LedgerIndex, group_key, is_reply
from validators.rule import rule


@rule("CHN001", "error", source="FORMAT 1, FORMAT 8", recorded=False)
def ledger_is_intact(index: LedgerIndex) -> Iterator[Breach]:
    """The ledger's bytes, chain, head and blobs are what was committed.

    All other rules depend on it. The problems are those of `verify`; this rule only passes them on, so that `check`
    alone never accepts a damaged ledger.
    """
    for problem in index.context.ledger_problems:
        # Bytes of an interrupted commit are normal after a crash, so they only warn.
        severity: Severity = "error" if problem.is_damage else "warning"
        yield Breach(problem.seq, problem.what, severity, where=(problem.stream, problem.line))


@rule("FLD001", "warning", source="FORMAT 1", recorded=False)
def fields_are_known(index: LedgerIndex) -> Iterator[Breach]:
    """A line holds no field that this version of moot does not know.

    Unknown fields are kept and never judged, so a reader should know that the line says something this version cannot
    check.
    """
    for seq, fields in sorted(index.context.unknown.items()):
        yield Breach(
            seq, f"unknown {'field' if len(fields) == 1 else 'fields'} {', '.join(fields)}: kept, not judged"
        )


@rule("LAW001", "error", source="FORMAT 1, FORMAT 2")
def event_keeps_its_laws(event: Event) -> Iterator[str]:
    """An event keeps the laws of its kind.

    Counts, non-empty text, the form of ids, the shape of an artifact's body, and which fields go together. The decoder
    refuses such a line, so that the rule holds for events that were never lines.
    """
    # Drafts reach the rules before they are lines, and no decoder has refused them yet.
    problem = broken_law(event)
    if problem is not None:
        yield f"{event.kind}: {problem}"


_SPOKEN_FOR: Final = {
    ("claim", "testable_as"),
    ("verification", "evidence_refs"),
    ("verification", "claim_status_changes[].evidence"),  # the source has evidence for a whole verification
    ("decision", "cites"),
}
_WITHOUT_SOURCE: Final = frozenset({"run_opened", "round_opened", "position"})
"""Kinds whose texts no source has, which the import's report says once."""


@rule("LAW002", "warning", source="FORMAT 12")
def imported_event_is_complete(event: Event) -> Iterator[str]:
    """An imported event holds what an event of its kind should hold.

    Imports may lack what their source never had, so that nothing is refused for it; what is missing is said here
    instead. The published rules 5, 6 and 7 speak for themselves.
    """
    # Live events cannot lack anything: the decoder applies the same laws to them as errors.
    if event.by != "import" or event.kind in _WITHOUT_SOURCE:
        return
    for law, problem in broken_waived_laws(event):
        if not (isinstance(law, Length) and (event.kind, law.path) in _SPOKEN_FOR):
            yield f"imported {event.kind_and_id}: {problem}"


@rule("ORD007", "error", source="FORMAT 1 (3), FORMAT 8")
def commit_is_whole(index: LedgerIndex) -> Iterator[Breach]:
    """`rest` counts the events of a commit down to 0.

    A commit is all or nothing across the three files; recovery cuts at `rest: 0` and would cut elsewhere if it did not
    count.
    """
    for before, event in pairwise(index.events):
        if before.rest > 0 and event.rest != before.rest - 1:
            yield Breach(event.seq, f"rest is {event.rest} behind rest {before.rest} of the same commit")


@rule("ORD008", "warning", source="FORMAT 1 (`at`)", applies_to_imports=False, recorded=False)
def time_runs_forward(index: LedgerIndex) -> Iterator[Breach]:
    """A commit is not dated before the one that it follows.

    A clock that was set back does this, and so does a rewritten ledger. Nothing is ordered by `at`, so it stays a
    warning.
    """
    for before, after in pairwise(index.events):
        # Instants have one fixed form in UTC, so comparing strings compares times.
        if after.at < before.at:
            yield Breach(after.seq, f"dated {after.at}, before event {before.seq} ({before.at})")


@rule("IDS001", "error", source="FORMAT 3, SD-50")
def id_is_unique(index: LedgerIndex) -> Iterator[Breach]:
    """An id belongs to one event, one goal, one option or one document.

    Of two claims with the same id only one would be tested, and it would be unclear which. This closes a gap:
    duplicates were never looked for.
    """
    for event in index.events:
        first = index.book.by_id.get(event.id) if event.id else None
        # The index keeps the first event of an id, so every later one is the duplicate.
        if first is not None and first is not event:
            yield Breach(event.seq, f"{event.id} is already the id of event {first.seq}")
    opened = index.opened
    if opened is not None:
        ids = [entry.id for entry in (*opened.goals, *opened.options)]
        for identity, count in Counter([*ids, *(entry.id for entry in opened.context)]).items():
            if count > 1:
                yield Breach(opened.seq, f"{identity} is defined {count} times")


@rule("IDS002", "error", source="FORMAT 3", version=2, applies_to_imports=False)
def numbers_are_gapless(index: LedgerIndex) -> Iterator[Breach]:
    """Counted ids run without a gap, in role order, then in the order inside the reply.

    Numbers that followed the order of arrival would make a replay give other ids.
    """
    taken: Counter[tuple[str, int]] = Counter()
    ranks: dict[tuple[str, object], int] = {}
    for event, step in index.pairs:
        if isinstance(event, Verification) and event.repeats is not None:
            taken[event.kind, event.round] += 1  # numbered by check, whatever arrives first
            continue
        start = _start(event)
        if start is None or not isinstance(event, Identified):
            continue
        key = (event.kind, event.round)
        expected = start + taken[key]
        taken[key] += 1
        if number_of(event.id) != expected:
            yield Breach(event.seq, f"{event.id} should have number {expected}")
        if step is not None and event.by in index.roles:
            rank = index.roles.index(event.by)
            group = (event.kind, group_key(step))
            # Steps of a group run in parallel and are numbered by role order, so that a replay gives the same
            # ids in any order of arrival.
            if rank < ranks.get(group, 0):
                yield Breach(
                    event.seq, f"{event.id} by {event.by} is numbered behind a later role of its group"
                )
            ranks[group] = rank


def _start(event: Event) -> int | None:
    """Return the first number of a counted kind; verifications other than the four checks count from 5."""
    if isinstance(event, Verification):
        return 5 if event.check_id == 5 else None
    return 1 if KINDS[event.kind].is_counted else None


@rule("ORD004", "error", source="FORMAT 4, SD-18, SD-27", applies_to_imports=False)
def step_was_open(index: LedgerIndex) -> Iterator[Breach]:
    """A reply or a fallback answers a step that was open: phases and groups keep their order.

    A step opens when its predecessors are complete. An answer from before would have been written without what the
    table says it rests on, a position after its verdict among them.
    """
    if index.context.protocol is None:
        return
    openings = index.openings
    # One finding instead of one for each later step, since all of them follow from the same break.
    if openings.lost_at is not None:
        yield Breach(openings.lost_at, "from here on the protocol cannot say which steps are open")
    for event in index.events:
        answered = (
            event.step_failed if isinstance(event, Fallback) else event.step if is_reply(event) else None
        )
        if answered is None or event.seq > openings.known_through:
            continue  # nothing is judged after rounds have left the plan
        opening = openings.of.get(answered)
        # The opening is the event that completed the predecessors, so an answer must come strictly after it.
        if opening is None or opening >= event.seq:
            yield Breach(event.seq, f"{answered} is answered, but it was not open")


@rule("ORD005", "error", source="FORMAT 1 (13, 14), FORMAT 4, FORMAT 8", applies_to_imports=False)
def step_has_one_reply(index: LedgerIndex) -> Iterator[Breach]:
    """A step is answered once, and every event of a step leads to the call of its reply.

    A second answer would be a choice between answers, and an event without a call would have no author.
    """
    answered: dict[str, Event] = {}
    for event in index.events:
        if isinstance(event, Fallback):
            yield from _second(event.step_failed, event, answered)
        elif event.call is not None:
            if event.step is None:
                yield Breach(event.seq, "a call without a step")
            else:
                yield from _second(event.step, event, answered)
        elif event.via is not None:
            first = answered.get(event.step or "")
            # `via` ties an event to the call that paid for it; without the tie its author is unknown.
            if first is None or first.seq != event.via or first.call is None:
                yield Breach(
                    event.seq,
                    f"via {event.via} is not the reply of {event.step or 'this event without step'}",
                )
        elif event.step is not None:
            yield Breach(event.seq, f"an event of {event.step} has neither call nor via")


def _second(step: str, event: Event, answered: dict[str, Event]) -> Iterator[Breach]:
    if step in answered:
        yield Breach(event.seq, f"{step} was answered before, by event {answered[step].seq}")
    else:
        answered[step] = event


YIELDS: Final[Mapping[str, frozenset[str]]] = {
    "B": frozenset({"statement proposal"}),
    "C": frozenset({"statement supplement"}),
    "D": frozenset({"artifact", "claim"}),
    "E.position": frozenset({"position"}),
    "E.belief": frozenset({"belief"}),
    "E.checks": frozenset({"verification check"}),
    "E.check3": frozenset({"verification check"}),
    "F": frozenset({"statement review", "flip", "claim", "concern tension"}),
    "G": frozenset({"statement assessment", "decision round", "concern"}),
    "H": frozenset({"drift_check"}),
    "S.resolve": frozenset({"verification synthesis_resolution"}),
    "S.review": frozenset({"statement retrospective"}),
    "S.close": frozenset({"statement summary", "decision final"}),
}
"""Group of the protocol `structured` → kinds (with type) that its steps yield."""
WITH_PROGRAMS: Final = frozenset({"D", "E.checks", "E.check3"})
"""Groups whose steps yield experiments too, in a run that was opened for them."""


@rule("KND001", "error", source='FORMAT 5 ("What the steps yield"), SD-18, SD-19', applies_to_imports=False)
def step_yields_its_kinds(index: LedgerIndex) -> Iterator[Breach]:
    """A step yields what the table of its protocol says, and nothing else.

    A decision slipped into a review, or a claim into the synthesis, would bypass the roles that should have tested
    it.
    """
    if not index.watched:
        return
    # Seats may bring programs only in a run that was opened with experiments on or ask.
    runs = index.opened is not None and index.opened.rules.get(EXPERIMENTS) in ("on", "ask")
    for event, step in index.pairs:
        if step is None:
            continue
        _, phase, act = group_key(step)
        group = f"{phase}.{act}" if act else phase
        allowed = YIELDS.get(group)
        if allowed is not None and group in WITH_PROGRAMS and runs:
            allowed |= {"experiment_planned"}
        if allowed is None:
            yield Breach(event.seq, f"{event.step} is no step of this protocol")
        elif not allowed.intersection((event.kind, _typed(event))):
            yield Breach(
                event.seq, f"{event.step} yields a {_typed(event)}; it may yield {', '.join(sorted(allowed))}"
            )


def _typed(event: Event) -> str:
    if isinstance(event, Verification):
        return f"verification {'check' if event.check_id <= 4 else event.check}"
    return f"{event.kind} {event.type}" if isinstance(event, Statement | Concern | Decision) else event.kind


@rule("SYN001", "error", source="SD-19, FORMAT 5 (S.resolve)", applies_to_imports=False)
def synthesis_leaves_nothing_pending(index: LedgerIndex) -> Iterator[Breach]:
    """When the synthesis reviews the run, no claim is pending, unless its resolution was given up.

    A run that finishes with untested claims looks decided where it is only over.
    """
    if not index.watched:
        return
    seen: set[int] = set()
    for event, step in index.pairs:
        if step is None or step.act != "review" or not is_reply(event) or event.round in seen:
            continue
        seen.add(event.round)
        given_up = index.book.state.given_up.get(f"r{event.round}.S.resolve.verifier", event.seq)
        pending = [
            claim for claim in index.book.state.claims if index.status_at(claim, event.seq) == "pending"
        ]
        # A verifier that failed for good cannot settle claims, and the run still has to end.
        if pending and given_up >= event.seq:
            yield Breach(event.seq, f"the synthesis goes on while {', '.join(pending)} is pending")
