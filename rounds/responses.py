"""What a run does about alarms at the end of a round: it raises, answers and closes them, in fixed wordings.

Under `text` and `script` there is one alarm, fading disagreement (SD-22). Under `calibrated` all eight failure modes
raise alarms, and an alarm is closed once the rounds after the response kept the tolerated rate, or by a person (`ack`).
"""

from __future__ import annotations

from typing import Any, Final

from detectors.calibrated.judgement import readings_of
from detectors.calibrated.parameters import parameters_of
from detectors.calibrated.reading import Reading
from detectors.disagreement_slope import slope_alarm
from ledger.book import Book
from ledger.events import Alarm, Amendment, Event
from ledger.events.decisions import Change, FailureMode
from ledger.state import State

RESPONSES: Final[dict[tuple[FailureMode, str], tuple[str, str]]] = {
    ("FM-1", ""): ("charter.critic", "harden_critic"),
    ("FM-2", ""): ("charter.critic", "safety_valve"),
    ("FM-3", ""): ("charter.all", "resurface_goals"),
    ("FM-4", ""): ("charter.all", "share_the_frame"),
    ("FM-5", "flood"): ("charter.all", "cap_claims"),
    ("FM-5", "famine"): ("charter.all", "raise_claims"),
    ("FM-6", ""): ("charter.all", "deepen_evidence"),
    ("FM-8", ""): ("charter.all", "cap_claims"),
}
"""Failure mode and variant → whose charter, and which fixed wording of the prompt set (SD-78 … SD-85).

FM-7 has no wording: an absence that was none can only be made up by the plan, or be acknowledged by a person.
"""


def responses(book: Book, phase: str, next_seq: int) -> tuple[Event, ...]:
    """The alarms and amendments that end a round; `next_seq` is the seq of the first of them."""
    opened = book.state.opened
    assert opened is not None, "no run is open"
    if opened.stop.profile == "calibrated":
        return _calibrated(book, phase, next_seq)
    return _slope(book.state, phase, next_seq)


def _slope(state: State, phase: str, next_seq: int) -> tuple[Event, ...]:
    """The sycophancy alarm of SD-22: the critic's next briefs are hardened (SD-78)."""
    found = slope_alarm(state)
    if found is None or any(alarm.fm == "FM-1" for alarm in state.open_alarms()):
        return ()
    if any(alarm.action == "closed" and alarm.round >= found.onset_round for alarm in state.alarms):
        return ()  # somebody has seen this fall and said what follows from it
    alarm = _alarm(
        state,
        phase,
        fm="FM-1",
        action="raised",
        onset_round=found.onset_round,
        evidence=tuple(str(entry) for entry in found.evidence),
        because="disagreement has fallen two rounds running",
    )
    reason = "The slope of disagreement is negative for the second round running (SD-22, SD-78)."
    return (alarm, _amendment(state, phase, "charter.critic", "harden_critic", next_seq, reason))


def _calibrated(book: Book, phase: str, next_seq: int) -> tuple[Event, ...]:
    state = book.state
    open_ones = {alarm.fm: alarm for alarm in state.open_alarms()}
    events: list[Event] = []
    for reading in readings_of(state, parameters_of(state, book.blobs)):
        raised = open_ones.get(reading.mode)
        if raised is not None:
            if reading.has_recovered(raised.round):
                because = f"the rounds since R{raised.round} kept the tolerated rate"
                events.append(_closing(state, phase, raised, because))
        elif reading.verdict == "ALARM" and not _was_closed(state, reading):
            events.append(_raised(state, phase, reading))
            response = RESPONSES.get((reading.mode, reading.variant))
            if response is not None:
                cause = next_seq + len(events) - 1
                events.append(
                    _amendment(state, phase, *response, cause, f"{reading.mode}: {reading.sentence}.")
                )
    return tuple(events)


def _was_closed(state: State, reading: Reading) -> bool:
    """An alarm of this mode was answered since it could be raised; only a new onset raises it again."""
    onset = reading.onset or 0
    return any(a.fm == reading.mode and a.action == "closed" and a.round >= onset for a in state.alarms)


def _raised(state: State, phase: str, reading: Reading) -> Alarm:
    return _alarm(
        state,
        phase,
        fm=reading.mode,
        action="raised",
        e_value=reading.e_value if reading.rounds else None,
        onset_round=reading.onset,
        evidence=reading.evidence,
        because=reading.sentence,
    )


def _closing(state: State, phase: str, raised: Alarm, because: str) -> Alarm:
    return _alarm(
        state,
        phase,
        fm=raised.fm,
        action="closed",
        e_value=raised.e_value,
        onset_round=raised.onset_round,
        evidence=raised.evidence,
        closes=raised.seq,
        because=because,
    )


def _alarm(state: State, phase: str, **fields: Any) -> Alarm:
    opened = state.opened
    assert opened is not None, "no run is open"
    return Alarm(
        round=state.round, phase=phase, by="controller", verdict="ALARM", params=opened.stop.params, **fields
    )


def _amendment(state: State, phase: str, path: str, code: str, cause: int, reason: str) -> Amendment:
    return Amendment(
        round=state.round,
        phase=phase,
        by="controller",
        what="charter",
        change=(Change(path=path, from_=None, to=code),),
        cause=cause,
        reason=reason,
    )
