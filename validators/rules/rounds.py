"""Rounds: how a run opens, which round may open when, what belongs to it, and what may follow the end."""

from __future__ import annotations

from collections.abc import Iterator

from ledger.events import (
    Alarm,
    Amendment,
    Artifact,
    Belief,
    Decision,
    Event,
    ExperimentPlanned,
    Position,
    RoundOpened,
    RunClosed,
    RunOpened,
    Statement,
    Verification,
)
from ledger.events.ids import StepName, event_id, number_of, round_of
from ledger.events.verifications import CHECKS
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule


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
    for event, step in zip(index.events, index.steps, strict=True):
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
            n = number_of(event.id)
            if event.check_id <= len(CHECKS):
                if n != event.check_id or event.check != CHECKS[event.check_id - 1]:
                    yield Breach(
                        event.seq, f"{event.id} is check {event.check_id}, {event.check}: they disagree"
                    )
            # Numbers 1 to 4 belong to the four checks; re-tests and resolutions count from 5.
            elif n < 5 or event.check in CHECKS:
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
    match event:
        case (
            Decision(type="override" | "answer")
            | Alarm(action="closed")
            | Amendment(what="note" | "redaction")
            | ExperimentPlanned()
        ):
            return True
        case _:
            return False
