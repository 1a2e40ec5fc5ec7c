"""Rounds and recorded verdicts: which round may open when, what belongs to it, and what comes out the same again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ledger.events import (
    Amendment,
    Artifact,
    Belief,
    Event,
    Position,
    RoundOpened,
    RunClosed,
    RunOpened,
    Signals,
    Statement,
    Validation,
    Verification,
)
from ledger.events.ids import StepName, event_id, number_of, round_of
from ledger.events.verifications import CHECKS, FINDINGS_MAX, ValidationFinding
from ledger.plain_json import converted
from ledger.state.book import Book
from ledger.state.fold import fold, step as take
from ledger.state.state import State
from validators.finding import Breach, standing
from validators.ledger_index import LedgerIndex
from validators.rule import rule
from validators.rules.replay import commits, compare
from validators.rules.roles import is_act_of_person


@rule("ORD001", "error", source="FORMAT 1, FORMAT 2")
def run_opens_first(index: LedgerIndex) -> Iterator[Breach]:
    """A run is opened by its first event, again only by a fork, and seq counts from 0 without a gap.

    Everything is read against the opening: the cast, the goals, the plan, the documents.
    """
    if index.events and index.opened is None:
        yield Breach(index.events[0].seq, f"the first event is a {index.events[0].kind}, not run_opened")
    if index.opened is not None and index.opening_problem is not None:
        yield Breach(index.opened.seq, f"the run cannot be played as it was opened: {index.opening_problem}")
    for place, event in enumerate(index.events):
        # Rules index events by seq, so a gap would make every later finding point at the wrong event.
        if event.seq != place:
            yield Breach(event.seq, f"seq {event.seq} stands at place {place}")
        if place and isinstance(event, RunOpened) and not _parts_here(event):
            yield Breach(event.seq, "the run is opened a second time")


def _parts_here(event: RunOpened) -> bool:
    """Return whether a fork truly begins with this opening, which names the event before it by number and hash."""
    origin = event.origin
    return origin.type == "fork" and (origin.seq, origin.head) == (event.seq - 1, event.prev)


@rule(
    "ORD002",
    "error",
    source="SD-23 … SD-26, SD-84, FORMAT 2 (`round_opened`), FORMAT 9",
    applies_to_imports=False,
)
def round_follows_the_plan(index: LedgerIndex) -> Iterator[Breach]:
    """Rounds are opened in the order of the plan, when nothing of the round before is left open.

    A stress round that is quietly renamed, skipped or given to another role would pass for a test that never took
    place.
    """
    plan = index.opened.plan if index.opened else ()
    due, amended = 0, False
    for event in index.events:
        match event:
            case Amendment(what="plan"):
                amended = True
            case RoundOpened():
                if event.plan_row != due or event.plan_row >= len(plan):
                    yield Breach(
                        event.seq, f"round {event.round} opens plan row {event.plan_row}; row {due} is due"
                    )
                # The index holds the plan as it was amended by the end of the run. Once amended, rows are no
                # longer compared.
                elif not amended:
                    yield from _differences(event, index)
                # Go on from the row that was opened, so that one skipped round is reported once.
                due = event.plan_row + 1
                yield from _left(index, event, f"round {event.round} opens")
            case RunClosed(state="finished"):
                yield from _left(index, event, "the run finishes")
            case _:
                pass


def _differences(event: RoundOpened, index: LedgerIndex) -> Iterator[Breach]:
    assert index.opened is not None, "a plan row was found"
    row = index.opened.plan[event.plan_row]
    if event.round != row.round:
        yield Breach(event.seq, f"plan row {event.plan_row} is round {row.round}, not {event.round}")
    for name, stated in (("absent", event.absent), ("planned_stress", event.planned_stress)):
        if stated != row.absent:
            yield Breach(event.seq, f"{name} is {stated or 'nobody'}; the plan says {row.absent or 'nobody'}")


def _left(index: LedgerIndex, event: RoundOpened | RunClosed, what: str) -> Iterator[Breach]:
    waiting = index.openings.left.get(event.seq, ())
    if waiting:
        yield Breach(event.seq, f"{what} while {', '.join(waiting)} is open")


@rule("ORD003", "error", source="FORMAT 1 (8, 9), FORMAT 3, SD-50")
def event_belongs_to_its_round(index: LedgerIndex) -> Iterator[Breach]:
    """Id, round, phase, step and author of an event agree, and its round is the one that is open.

    An event filed under another round would count there for leads, signals and stress tests. Closes the hole that ids
    and rounds were never compared.
    """
    current = 0
    for event, step in index.pairs:
        if isinstance(event, RoundOpened):
            current = event.round
        inside = round_of(event.id) if event.id else None
        if inside is not None and inside != event.round:
            yield Breach(event.seq, f"{event.id} stands in round {event.round}")
        if step is not None:
            yield from _step(event, step)
        if not index.is_imported(event.seq):
            # A fork opens again with round 0 while its parent's round may be open.
            if event.round != current and not isinstance(event, RunOpened):
                yield Breach(event.seq, f"round {event.round} is stated while round {current} is open")
            yield from _place(event)


def _step(event: Event, step: StepName) -> Iterator[Breach]:
    for name, stated, expected in (
        ("round", event.round, step.round),
        ("phase", event.phase, step.phase),
        ("by", event.by, step.role),
    ):
        if stated != expected:
            yield Breach(event.seq, f"{name} is {stated}, the step {event.step} says {expected}")
    expected_id = _id_from(event, step)
    if expected_id is not None and event.id != expected_id:
        yield Breach(event.seq, f"the id of this {event.kind} must be {expected_id}, not {event.id}")


def _id_from(event: Event, step: StepName) -> str | None:
    """Return the id that the step gives, for kinds whose number is not counted (FORMAT 3)."""
    match event:
        case Statement():
            parts: tuple[object, ...] = (step.phase, step.act)
        case Artifact():
            parts = ()
        case Position(check_id=int() as check):
            parts = (check,)
        case _:
            return None
    return event_id(event.kind, step.round, *parts, step.role, repeat=step.repeat)


def _place(event: Event) -> Iterator[Breach]:
    match event:
        case RunOpened() if event.round != 0 or event.phase != "open":
            yield Breach(event.seq, f"run_opened stands in round {event.round}, phase {event.phase}")
        case RunClosed() if event.phase != "close":
            yield Breach(event.seq, f"run_closed stands in phase {event.phase}")
        case Verification(repeats=None):
            n, named = number_of(event.id), CHECKS[event.check_id - 1 : event.check_id]
            # Numbers 1 to 4 belong to the four checks; re-tests and resolutions count from 5.
            if (n, (event.check,)) != (event.check_id, named) if named else n < 5 or event.check in CHECKS:
                yield Breach(event.seq, f"{event.id} is check {event.check_id}, {event.check}: they disagree")
        case _:
            pass


@rule("ORD006", "error", source="FORMAT 2", version=2)
def nothing_follows_the_end(index: LedgerIndex) -> Iterator[Breach]:
    """After the finish only a person may answer, override, close an alarm, note, redact or plan an experiment.

    A result that a person hands in moves forecasts, which follow in its commit.

    What is added to a finished run would change its outcome behind the stop that was announced.
    """
    finished = False
    for event in index.events:
        if finished and not _may_follow(event):
            yield Breach(event.seq, f"a {event.kind} by {event.by} follows the end of the run")
        finished = finished or (isinstance(event, RunClosed) and event.state == "finished")


def _may_follow(event: Event) -> bool:
    if event.by != "human":
        # A measured result moves forecasts, which the controller recomputes in the same commit.
        return isinstance(event, Belief) and event.derived
    return is_act_of_person(event) and getattr(event, "what", "note") in ("note", "redaction")


@rule("VER003", "error", source="SD-21, SD-49, FORMAT 2, FORMAT 9", applies_to_imports=False)
def round_is_validated(index: LedgerIndex) -> Iterator[Breach]:
    """Every round ends with a validation, and a round of synthesis with one after S.

    A ledger that was never judged on the way was judged only when it was too late to act.
    """
    opened: RoundOpened | None = None
    phases: set[str] = set()
    synthesis = False
    for event, step in index.pairs:
        if isinstance(event, RoundOpened) or (isinstance(event, RunClosed) and event.state == "finished"):
            # Rounds of an imported parent were never validated by moot.
            held_here = opened is not None and not index.is_imported(opened.seq)
            if opened is not None and held_here and not phases:
                yield Breach(event.seq, f"round {opened.round} ends without a validation")
            elif opened is not None and synthesis and "S" not in phases:
                yield Breach(event.seq, f"the synthesis of round {opened.round} ends without a validation")
            if isinstance(event, RoundOpened):
                opened, phases, synthesis = event, set[str](), False
        elif isinstance(event, Validation):
            phases.add(event.after)
        elif step is not None and step.phase == "S":
            synthesis = True


@rule("VER002", "error", source="SD-60, DESIGN 3, FORMAT 2", applies_to_imports=False, recorded=False)
def recorded_signals_hold(index: LedgerIndex) -> Iterator[Breach]:
    """Recorded stop signals come out the same when they are computed again.

    The stop rests on them. Verdicts by thresholds that are not installed are counted, not judged.
    Where a protocol looks for itself, each round is looked at once, with the validation before its closing steps.
    """
    read, protocol = index.context.signals, index.context.protocol
    if protocol is not None and protocol.look is not None:
        yield from _looks(index, protocol.look)
        return
    if read is None:
        return
    prefix = _Prefix(index)
    for event in index.events:
        if not isinstance(event, Signals):
            continue
        if event.seq in index.as_given:
            continue
        report = read(prefix.through(event.through), event.profile)
        yield from (
            Breach(event.seq, f"{what} on recomputing") for what in _signal_differences(event, report)
        )


Look = Callable[[Book, str], tuple[Event, ...]]
"""A protocol's own look: (the book before the validation, the phase that ended) → its signals, and what it asks."""


def _looks(index: LedgerIndex, look: Look) -> Iterator[Breach]:
    """Yield breaches of stop checks: every one that was due must be there in full, and no other."""
    for events, book in commits(index):
        first, following = events[0], events[1:]
        if isinstance(first, Validation):
            yield from _look(index, look(book, first.after) if first.after != "S" else (), first, following)
            continue
        for event in events:
            if isinstance(event, Signals):
                yield Breach(event.seq, "signals that no validation made due")


def _look(
    index: LedgerIndex, due: Sequence[Event], validation: Validation, following: Sequence[Event]
) -> Iterator[Breach]:
    """Yield differences of one stop check; one by other parameters is not judged, only required."""
    stated = next((event for event in following if isinstance(event, Signals)), None)
    expected = next((event for event in due if isinstance(event, Signals)), None)
    # Parameters may have been tuned since. The recorded verdict is accepted, and the remaining events must
    # still agree.
    if stated and expected and stated.params != expected.params:
        message = f"recorded with parameters {stated.params[:12]}…: not recomputed"
        yield Breach(stated.seq, message, "warning")
        due = (stated, *(event for event in following if not isinstance(event, Signals)))
    for breach in compare(due, following, validation.seq, "the look"):
        # a question repeats the words of its claim, which a redacted copy has no longer
        at = validation.seq if breach.seq is None else breach.seq
        words = not isinstance(index.events[at], Signals | Validation)
        gone = words and any(seq <= at for seq in index.reworded)
        yield breach._replace(severity="warning") if gone else breach
    for event in following[len(due) :]:
        yield Breach(event.seq, f"a {event.kind} that nothing made due")


class _Prefix:
    """Book as it was after an event. Stop checks follow one another, so the fold goes on from the last one."""

    def __init__(self, index: LedgerIndex) -> None:
        self._book = index.book
        self._state = State()

    def through(self, seq: int) -> Book:
        """Return the book through event `seq`; a book returned before is no longer valid."""
        # A damaged ledger may hold stop checks out of order; then the fold starts again.
        if seq < self._state.seq:
            self._state = State()
        events = self._book.events[: seq + 1]
        for event in events[self._state.seq + 1 :]:
            take(self._state, event)
        return Book(events, self._state, self._book.by_id, self._book.blobs)


def _signal_differences(event: Signals, report: Any) -> Iterator[str]:
    for name in ("satisfied", "of", "stop", "advice"):
        if getattr(event, name) != getattr(report, name):
            yield f"{name} is {getattr(event, name)}, and {getattr(report, name)}"
    readings = {reading.id: reading for reading in report.signals}
    for stated in event.signals:
        recomputed = readings.pop(stated.id, None)
        if recomputed is None:
            yield f"{stated.id} is recorded, and not there"
            continue
        for name in ("satisfied", "value", "threshold"):
            if getattr(stated, name) != getattr(recomputed, name):
                yield f"{stated.id} {name} is {getattr(stated, name)}, and {getattr(recomputed, name)}"
        # Evidence is compared in order, because the report lists it in a fixed one.
        if tuple(stated.evidence) != tuple(str(entry) for entry in recomputed.evidence):
            yield f"{stated.id} evidence is {', '.join(stated.evidence) or 'nothing'}, and another"
    if readings:
        yield f"{', '.join(readings)} is not recorded, and there"


@rule(
    "VER001",
    "error",
    source="SD-49, FORMAT 2 (`validation`), DESIGN 3",
    applies_to_imports=False,
    recorded=False,
    version=2,
)
def recorded_validation_holds(event: Validation, index: LedgerIndex) -> Iterator[Breach | str]:
    """A recorded validation is what these rules find over the same prefix.

    A validation that was written kinder than the ledger deserved would have let the run go on. One by rules of another
    version is counted, not judged. What a redacted copy makes differ is a warning: it names the events it changed. Last
    in the rulebook: it reads what the other rules found.
    """
    if event.seq in index.as_given:
        return
    for what in _otherwise(index, event):
        # Replaced words can make a rule find more or less, for example a hedge that is gone.
        if any(seq <= event.through for seq in index.reworded):
            yield Breach(event.seq, f"{what}; words of what it judged were redacted", "warning")
        else:
            yield what


def _otherwise(index: LedgerIndex, event: Validation) -> Iterator[str]:
    """Yield what the rules say differently from a recorded validation."""
    findings = standing(index.recorded, event.through)
    ok = not any(finding.severity == "error" for finding in findings)
    if event.ok != ok:
        yield f"recorded as {_word(event.ok)} through event {event.through}; it is {_word(ok)}"
    expected = converted(findings, tuple[ValidationFinding, ...], from_attributes=True)
    if len(expected) > FINDINGS_MAX:
        # Which of them the event kept depends on what a person had let go by then.
        expected = fold(index.events[: event.seq]).faults.kept(expected)
    if event.findings != expected:
        yield f"records {len(event.findings)} findings that are not the {len(expected)} found again"


def _word(ok: bool) -> str:
    return "good" if ok else "broken"
