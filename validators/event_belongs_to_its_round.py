"""ORD003, error: id, round, phase, step and author of an event agree, and its round is the one that is open.

An event filed under another round would count there for leads, signals and stress tests. Closes the hole that ids and
rounds were never compared. Source: FORMAT 1 (8, 9), FORMAT 3, SD-50.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import (
    Artifact,
    Event,
    Position,
    RoundOpened,
    RunClosed,
    RunOpened,
    Statement,
    Verification,
)
from ledger.events.verifications import CHECKS
from ledger.ids import StepName, number_of, round_of
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Every disagreement, event by event."""
    current = 0
    for event, step in zip(docket.events, docket.steps, strict=True):
        if isinstance(event, RoundOpened):
            current = event.round
        inside = round_of(event.id) if event.id else None
        if inside is not None and inside != event.round:
            yield Breach(event.seq, f"{event.id} stands in round {event.round}")
        if step is not None:
            yield from _step(event, step)
        if not docket.is_imported(event.seq):
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
    """The id that the step gives, for kinds whose number is not counted (FORMAT 3)."""
    repeat = f"~{step.repeat}" if step.repeat > 1 else ""
    match event:
        case Statement():
            act = f"-{step.act}" if step.act else ""
            return f"S-{step.round}-{step.phase}{act}-{step.role}{repeat}"
        case Artifact():
            return f"A-{step.round}-{step.role}{repeat}"
        case Position(check_id=int() as check):
            return f"P-{step.round}-{check}-{step.role}{repeat}"
        case _:
            return None


def _place(event: Event) -> Iterator[Breach]:
    match event:
        case RunOpened() if event.round != 0 or event.phase != "open":
            yield Breach(event.seq, f"run_opened stands in round {event.round}, phase {event.phase}")
        case RunClosed() if event.phase != "close":
            yield Breach(event.seq, f"run_closed stands in phase {event.phase}")
        case Verification(repeats=None):
            n = number_of(event.id or "")
            if event.check_id <= len(CHECKS):
                if n != event.check_id or event.check != CHECKS[event.check_id - 1]:
                    yield Breach(
                        event.seq, f"{event.id} is check {event.check_id}, {event.check}: they disagree"
                    )
            elif n < 5 or event.check in CHECKS:
                yield Breach(event.seq, f"{event.id} is check {event.check_id}, {event.check}: they disagree")
        case _:
            pass


RULE: Final = Rule(
    code="ORD003",
    name="event_belongs_to_its_round",
    severity="error",
    summary="Id, round, phase, step and author of an event agree, and its round is the one that is open.",
    check=check,
)
