"""Single events, their commits and ids: intact, complete, within the laws of their kind, numbered without gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from ledger.events import Event, Verification
from ledger.events.ids import number_of
from ledger.events.laws import Length, broken_law, broken_waived_laws
from ledger.events.values import Severity
from validators.finding import Breach
from validators.ledger_index import LedgerIndex, group_key
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
def event_keeps_its_laws(index: LedgerIndex) -> Iterator[Breach]:
    """An event keeps the laws of its kind.

    Counts, non-empty text, the form of ids, the shape of an artifact's body, and which fields go together. The decoder
    refuses such a line, so that the rule holds for events that were never lines.
    """
    for event in index.events:
        # Drafts reach the rules before they are lines, and no decoder has refused them yet.
        problem = broken_law(event)
        if problem is not None:
            yield Breach(event.seq, f"{event.kind}: {problem}")


_SPOKEN_FOR: Final = {
    ("claim", "testable_as"),
    ("verification", "evidence_refs"),
    ("verification", "claim_status_changes[].evidence"),  # the source has evidence for a whole verification
    ("decision", "cites"),
}
_WITHOUT_SOURCE: Final = frozenset({"run_opened", "round_opened", "position"})
"""Kinds whose texts no source has, which the import's report says once."""


@rule("LAW002", "warning", source="FORMAT 12")
def imported_event_is_complete(index: LedgerIndex) -> Iterator[Breach]:
    """An imported event holds what an event of its kind should hold.

    Imports may lack what their source never had, so that nothing is refused for it; what is missing is said here
    instead. The published rules 5, 6 and 7 speak for themselves.
    """
    for event in index.events:
        # Live events cannot lack anything: the decoder applies the same laws to them as errors.
        if event.by != "import" or event.kind in _WITHOUT_SOURCE:
            continue
        for law, problem in broken_waived_laws(event):
            if not (isinstance(law, Length) and (event.kind, law.path) in _SPOKEN_FOR):
                yield Breach(event.seq, f"imported {event.kind} {event.id or ''}: {problem}")


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


COUNTED: Final = frozenset(
    {"claim", "concern", "assumption", "argument", "challenge", "response", "decision", "experiment_planned"}
)


@rule("IDS002", "error", source="FORMAT 3", version=2, applies_to_imports=False)
def numbers_are_gapless(index: LedgerIndex) -> Iterator[Breach]:
    """Counted ids run without a gap, in role order, then in the order inside the reply.

    Numbers that followed the order of arrival would make a replay give other ids.
    """
    taken: Counter[tuple[str, int]] = Counter()
    ranks: dict[tuple[str, object], int] = {}
    for event, step in zip(index.events, index.steps, strict=True):
        if isinstance(event, Verification) and event.repeats is not None:
            taken[event.kind, event.round] += 1  # numbered by check, whatever arrives first
            continue
        start = _start(event)
        if start is None:
            continue
        key = (event.kind, event.round)
        expected = start + taken[key]
        taken[key] += 1
        if number_of(event.id or "") != expected:
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
    return 1 if event.kind in COUNTED else None
