"""Roles: who may write and test what, who leads, and who is absent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import (
    KINDS,
    Agenda,
    Alarm,
    Amendment,
    Artifact,
    Belief,
    Claim,
    Concern,
    Decision,
    Event,
    ExperimentPlanned,
    Fallback,
    Frame,
    Memo,
    Position,
    RoundOpened,
    RunOpened,
    Verification,
    Vote,
)
from ledger.events.ids import parse_reference, role_of
from roles.protocol import next_lead
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule

TESTS: Final = frozenset({"verification", "drift_check", "experiment_planned"})
"""What the role `verifier` may write."""


@rule("AUT001", "error", source="SD-27 … SD-32, DESIGN 4 (neutral `verifier`)", applies_to_imports=False)
def verifier_is_not_author(event: Event, index: LedgerIndex) -> Iterator[str]:
    """The tester of something did not write it, and the neutral verifier writes only verdicts and tests.

    Otherwise an author could confirm its own claim: agreement that looks robust and is not.
    """
    if event.by == "verifier" and event.kind not in TESTS and not _gathers(event):
        yield f"the verifier authors a {event.kind}"
    if isinstance(event, Verification) and event.by in index.roles:
        # Both moved claims and cited evidence count: judging one's own artifact is judging one's own work.
        for tested in _tested(event, index):
            role = tested.role if isinstance(tested, Artifact) else None
            if event.by == (tested.raised_by if isinstance(tested, Claim) else role):
                yield f"{event.by} tests {tested.id}, which {event.by} wrote"


def _gathers(event: Event) -> bool:
    """Return whether an event compiles what others raised: frame, agenda, its claims and defeaters."""
    if isinstance(event, Claim):
        return event.raised_by != event.by and bool(event.places)
    compiled = isinstance(event, Concern) and event.type == "defeater" and bool(event.sightings)
    return compiled or isinstance(event, Frame | Agenda)


def _tested(event: Verification, index: LedgerIndex) -> Iterator[Event]:
    ids = {change.claim_id for change in event.claim_status_changes}
    ids.update(parse_reference(evidence.ref).id for evidence in event.evidence_refs)
    for identity in sorted(ids):
        tested = index.earlier(identity, event.seq)
        if tested is not None:
            yield tested


_OTHERS: Final = frozenset({"controller", "human", "import"})


@rule("AUT002", "error", source="FORMAT 2 (`Role`), SD-1, SD-50, SD-66")
def role_is_in_the_cast(event: Event, index: LedgerIndex) -> Iterator[str]:
    """Every role that an event names has a seat in this run.

    A misspelled role counts as one more voice: it would satisfy a signal that asks how many have led or were absent.
    """
    for field, role in _named(event):
        # Without an opening there is no cast to compare with, and ORD001 reports that.
        if role is not None and index.roles and role not in index.roles:
            yield f"{field} names {role!r}, who is not in the cast"


def _named(event: Event) -> Iterator[tuple[str, str | None]]:
    if event.by not in _OTHERS:
        yield "by", event.by
    match event:
        case RunOpened():
            yield from (("plan", row.absent) for row in event.plan)
            yield from (("predict", entry.role) for entry in event.predict)
        case RoundOpened():
            yield from (
                ("lead", event.lead),
                ("absent", event.absent),
                ("planned_stress", event.planned_stress),
            )
            yield from (("findings", count.role) for count in event.findings or ())
        case Claim():
            yield "raised_by", event.raised_by
            yield from (("sightings", sighting.role) for sighting in event.sightings)
        case Artifact() | Fallback():
            yield "role", event.role
        case Decision():
            yield from (("dissent", dissent.role) for dissent in event.dissent)
        case _:
            pass


@rule("AUT003", "error", source="FORMAT 1 (10, 11), FORMAT 8, DESIGN 3", version=2)
def author_may_write_this(event: Event, index: LedgerIndex) -> Iterator[str]:
    """Controller, person and import write only what is theirs; a role writes only in a step.

    A claim by the controller would be an argument of the machinery, and a role outside its steps would have no brief.
    """
    if event.by == "import":
        # A live ledger could otherwise claim the waived laws of an import for any event.
        if not index.is_imported(event.seq):
            yield f"a {event.kind} by import in a run that was not imported"
    elif event.by in ("controller", "human"):
        if event.step is not None or not _may_write(event, index.watched):
            yield f"a {event.kind} is not for the {event.by} to write"
    elif event.step is None and not index.is_imported(event.seq):
        yield f"a {event.kind} by {event.by} outside every step"


def _may_write(event: Event, structured: bool) -> bool:
    if event.by == "controller":
        allowed = (
            KINDS[event.kind].by_controller
            or isinstance(event, Verification)
            # What is computed: a rule's decision, a derived forecast, options, a memo with cuts.
            or (isinstance(event, Decision) and event.made_by == "rule")
            or (isinstance(event, Belief) and event.derived)
            or (isinstance(event, Agenda) and not event.cruxes)
            or (isinstance(event, Memo) and bool(event.removed))
        )
        # A short protocol writes these for a lost reply or a person's question; FLW002 checks if they are due.
        stands_in = isinstance(event, Concern) or (isinstance(event, Vote) and event.fallback)
        return allowed or (not structured and stands_in)
    return is_act_of_person(event)


def is_act_of_person(event: Event) -> bool:
    """Return whether a person may write an event of this kind, outside of every step."""
    decides = isinstance(event, Decision) and event.type in ("override", "answer")
    closes = isinstance(event, Alarm) and event.action == "closed"
    return decides or closes or isinstance(event, Amendment | ExperimentPlanned)


@rule("LED001", "error", source="SD-52, SD-53, SD-81", applies_to_imports=False)
def lead_follows_rotation(index: LedgerIndex) -> Iterator[Breach]:
    """The lead of a round is the present role that has led least, ties by role order.

    The lead frames the round. If leads were chosen freely, one role could dominate.
    """
    led: list[str | None] = []
    for event in index.events:
        if not isinstance(event, RoundOpened):
            continue
        # Only `structured` rotates its lead. With every author absent no role can lead.
        if index.watched and any(role != event.absent for role in index.authors):
            expected = next_lead(index.authors, led, event.absent)
            if event.lead != expected:
                yield Breach(
                    event.seq,
                    f"{event.lead or 'nobody'} leads round {event.round}; the rotation says {expected}",
                )
        # The lead that really led counts, even a wrong one, so that one mistake is reported once.
        led.append(event.lead)


@rule("LED002", "error", source="SD-52, SD-74")
def lead_is_present(event: RoundOpened) -> Iterator[str]:
    """The lead of a round is not the role that is absent from it.

    A role that leads was not taken away, so the round tests nothing.
    """
    if event.absent is not None and event.lead == event.absent:
        yield f"{event.absent} leads round {event.round} and is absent from it"


@rule("STR001", "error", source="SD-74, SD-84, FORMAT 5 (law 3)")
def absent_role_is_silent(event: Event, index: LedgerIndex) -> Iterator[str]:
    """In phases A–H of a stress round nothing of the absent role is made.

    A stress round in which the role still speaks tests nothing and would count as a test.
    """
    opened = index.book.state.rounds.get(event.round)
    # The closing synthesis concerns the whole run, and the role takes part in it again.
    if opened is None or opened.seq >= event.seq or event.phase in ("S", "close"):
        return
    if opened.absent in _voices(event):
        yield f"{opened.absent} is absent from round {event.round} and gives a {event.kind_and_id}"


def _voices(event: Event) -> tuple[str, ...]:
    match event:
        case Claim():
            return (event.by, event.raised_by)
        case Artifact() | Fallback():
            return (event.by, event.role)
        # An imported position is written by the import, and its id names the role.
        case Position():
            return (event.by, role_of(event.id))
        case _:
            return (event.by,)


@rule("STR003", "error", source="SD-75, SD-76, FORMAT 2 (`predicted_signature`)", applies_to_imports=False)
def absence_is_predicted(event: RoundOpened, index: LedgerIndex) -> Iterator[str]:
    """What an absence will take away is written down before the round, as the opening predicts it.

    A signature that is named after the fact is always found.
    """
    predicted = index.opened.predict if index.opened else ()
    # Texts are compared too: a prediction that is reworded afterwards is another prediction.
    wanted = tuple((entry.code, entry.text) for entry in predicted if entry.role == event.absent)
    signature = tuple((entry.code, entry.text) for entry in event.predicted_signature or ())
    if event.absent is not None and not signature:
        yield f"nothing is predicted for the absence of {event.absent}"
    # An amendment may put an absence in, and only re-execution knows what is predicted then by default.
    elif (event.cause is None or wanted) and signature != (wanted if event.absent is not None else ()):
        yield f"the signature of round {event.round} is not what the opening predicted"
