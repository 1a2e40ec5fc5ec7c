"""Responses to alarms at the end of a round: a run raises, answers and closes them, in fixed wordings.

In the profile `published` there is one alarm, fading disagreement (SD-22). In `gates` FM-1 … FM-7 and FM-9 raise
alarms, and an alarm is closed once the rounds after the response kept the tolerated rate, or by a person (`ack`).
Beside the wording a response may change the plan (a stress round put in or made up) or the rule of a reply (a cap).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from detectors.observations import untested
from detectors.parameters import GateParameters, parameters_of
from detectors.signals import slope_alarm
from detectors.stopping.gates import readings_of
from detectors.stopping.reading import ModeReading, is_open
from ledger.events import Alarm, Amendment, Event
from ledger.events.envelope import FailureMode
from ledger.events.run import Change
from ledger.state.amendments import absent_path
from ledger.state.book import Book
from ledger.state.state import State
from rounds.protocols.schedule import CLAIM_CAP, CLAIMS_MAX, authors

RESPONSES: Final[dict[tuple[FailureMode, str], tuple[str, str]]] = {
    ("FM-1", ""): ("charter.critic", "harden_critic"),
    ("FM-2", ""): ("charter.critic", "safety_valve"),
    ("FM-3", ""): ("charter.all", "resurface_goals"),
    ("FM-4", ""): ("charter.all", "share_the_frame"),
    ("FM-5", "inflation"): ("charter.all", "cap_claims"),
    ("FM-5", "starvation"): ("charter.all", "raise_claims"),
    ("FM-6", ""): ("charter.all", "deepen_evidence"),
}
"""Charter and fixed wording of the prompt set, by failure mode and variant (SD-78 … SD-85)."""

STRESSED: Final[dict[FailureMode, str]] = {"FM-1": "critic", "FM-4": "", "FM-7": ""}
"""Role absent from a later round, by failure mode; "" is the role that the alarm is about (SD-78 … SD-84)."""
FOCUS: Final = (
    "Examine {rivals}, which no tested claim is about: what would have to be true for it to be the better answer, what "
    "speaks against that, and a claim of its own that can be tested. Whoever does not lead does the same."
)
"""Focus of the next rounds after FM-9, until each option was examined."""
FOCUS_PATH: Final = "round.focus"
CAPPED: Final = (("FM-5", "inflation"),)
"""Failure modes that cap the claims of an artifact (SD-82)."""


def responses(book: Book, phase: str, next_seq: int, params: str) -> tuple[Event, ...]:
    """Return the alarms and amendments that end a round.

    `next_seq` is the seq of the first of them, `params` the hash of the thresholds that raise and close alarms.
    """
    by_gates = book.state.opening.stop.profile == "gates"
    events = _by_gates(book, phase, next_seq) if by_gates else _slope(book.state, phase, next_seq)
    # Alarms carry the thresholds that raised them, since a run's thresholds can be replaced later.
    return tuple(
        msgspec.structs.replace(event, params=params) if isinstance(event, Alarm) else event
        for event in events
    )


def _slope(state: State, phase: str, next_seq: int) -> tuple[Event, ...]:
    """Return the sycophancy alarm of SD-22, which hardens the critic's next briefs (SD-78)."""
    slope = slope_alarm(state)
    if slope is None or any(alarm.fm == "FM-1" for alarm in state.open_alarms()):
        return ()
    if any(alarm.action == "closed" and alarm.round >= slope.onset_round for alarm in state.alarms):
        return ()  # a person has seen this fall and decided what follows from it
    alarm = _alarm(
        state,
        phase,
        fm="FM-1",
        action="raised",
        onset_round=slope.onset_round,
        evidence=tuple(str(entry) for entry in slope.evidence),
        because="disagreement has fallen two rounds running",
    )
    reason = "The slope of disagreement is negative for the second round running (SD-22, SD-78)."
    return (alarm, _amendment(state, phase, "charter.critic", "harden_critic", next_seq, reason))


def _by_gates(book: Book, phase: str, next_seq: int) -> tuple[Event, ...]:
    state = book.state
    open_ones = {alarm.fm: alarm for alarm in state.open_alarms()}
    events: list[Event] = []
    parameters = parameters_of(state, book.blobs)
    # An open alarm is never raised twice: a mode either recovers, stays open, or is answered once.
    for reading in readings_of(state, parameters):
        raised = open_ones.get(reading.mode)
        if raised is not None:
            if reading.has_recovered(raised.round):
                events.append(
                    _alarm(
                        state,
                        phase,
                        fm=raised.fm,
                        action="closed",
                        e_value=raised.e_value,
                        onset_round=raised.onset_round,
                        evidence=raised.evidence,
                        closes=raised.seq,
                        because=f"the rounds since R{raised.round} kept the tolerated rate",
                    )
                )
        elif is_open(state, reading):
            events.append(
                _alarm(
                    state,
                    phase,
                    fm=reading.mode,
                    action="raised",
                    e_value=reading.e_value if reading.rounds else None,
                    onset_round=reading.onset,
                    evidence=reading.evidence,
                    because=reading.sentence,
                )
            )
            # The cause is the seq that the alarm will have; it was appended last and is not committed yet.
            events += _answers(state, phase, reading, next_seq + len(events) - 1, parameters)
    return tuple(events)


def _answers(
    state: State, phase: str, reading: ModeReading, cause: int, parameters: GateParameters
) -> Iterator[Amendment]:
    """Yield the amendments that answer a raised alarm; `cause` is its seq."""
    reason = f"{reading.mode}: {reading.sentence}."
    wording = RESPONSES.get((reading.mode, reading.variant))
    # More claims are not asked for while those that exist cannot all be tested.
    waiting = len(untested(state)) > parameters.untested["share_at_most"] * len(state.claims)
    if wording is not None and not (reading.variant == "starvation" and waiting):
        yield _amendment(state, phase, *wording, cause, reason)
    if reading.mode in STRESSED:
        role = STRESSED[reading.mode] or reading.subject
        round_ = round_to_stress(state, role)
        # A stress round takes an absence that is free; a plan that foresees one already needs no change.
        if round_ is not None:
            change = Change(path=absent_path(round_), from_=None, to=role)
            yield _changed(state, phase, "plan", change, cause, reason)
    if reading.mode == "FM-9":
        focus = Change(path=FOCUS_PATH, from_=None, to=FOCUS.format(rivals=reading.subject))
        yield _changed(state, phase, "focus", focus, cause, reason)
    if (reading.mode, reading.variant) in CAPPED:
        cap = Change(path=CLAIM_CAP, from_=CLAIMS_MAX, to=parameters.claim_cap["claims_at_most"])
        yield _changed(state, phase, "reply_rule", cap, cause, reason)


def round_to_stress(state: State, role: str) -> int | None:
    """Return the next round that can be held without `role`; None if it will be absent anyway or no round is left."""
    if state.round not in state.rounds or role not in authors(state):
        return None
    # Only later rounds that deliberate count: the present one has begun with all of its roles.
    later = [row for row in state.opening.plan[state.rounds[state.round].plan_row + 1 :] if "G" in row.phases]
    if any(row.absent == role for row in later):
        return None
    return next((row.round for row in later if row.absent is None), None)


def _alarm(state: State, phase: str, **fields: Any) -> Alarm:
    opened = state.opening
    return Alarm(
        round=state.round, phase=phase, by="controller", verdict="ALARM", params=opened.stop.params, **fields
    )


def _amendment(state: State, phase: str, path: str, code: str, cause: int, reason: str) -> Amendment:
    return _changed(state, phase, "charter", Change(path=path, from_=None, to=code), cause, reason)


def _changed(state: State, phase: str, what: Any, change: Change, cause: int, reason: str) -> Amendment:
    return Amendment(
        round=state.round,
        phase=phase,
        by="controller",
        what=what,
        change=(change,),
        cause=cause,
        reason=reason,
    )
