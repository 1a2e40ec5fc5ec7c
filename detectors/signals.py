"""The stop signals of a run in a named profile: six readings, their count, what the count advises (SD-60)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from detectors.claims_tested import pending_script, pending_text, slows_script, slows_text
from detectors.disagreement import SlopeAlarm, alarm_over, persists_script, persists_text
from detectors.drift_checks_pass import drift_script, drift_text
from detectors.observations import Observations, observe
from detectors.parameters import (
    ScriptParameters,
    SignalProfile,
    TextParameters,
    params_hash,
    script_parameters,
    text_parameters,
)
from detectors.report import ANSWERED, AlarmReading, GateReading, Signal, SignalReport, StepQuorum
from detectors.roles_rotated import led_script, led_text, stressed_script, stressed_text
from ledger.events.decisions import Advice
from ledger.state.book import Blobs, Book
from ledger.state.fold import fold
from ledger.state.state import State

if TYPE_CHECKING:
    from detectors.calibrated.judgement import CalibratedJudgement
    from detectors.calibrated.parameters import CalibratedParameters

SCRIPT_PANEL: Final[tuple[Callable[[Observations, ScriptParameters], Signal], ...]] = (
    slows_script,
    persists_script,
    led_script,
    stressed_script,
    drift_script,
    pending_script,
)
TEXT_PANEL: Final[tuple[Callable[[Observations, TextParameters], Signal], ...]] = (
    slows_text,
    persists_text,
    led_text,
    stressed_text,
    drift_text,
    pending_text,
)
ADVICE: Final[dict[int, Advice]] = {6: "strong_stop", 5: "wrap_up", 4: "borderline"}
"""Signals satisfied → advice; fewer say `continue`."""
SLOPES_SHOWN: Final = 4

__all__ = [
    "AlarmReading",
    "GateReading",
    "Signal",
    "SignalProfile",
    "SignalReport",
    "StepQuorum",
    "UnknownProfile",
    "params_hash",
    "signals",
    "signals_of_state",
]


class UnknownProfile(ValueError):
    """The profile is none of those that are installed."""


def signals(
    book: Book, profile: SignalProfile, at: int | None = None, *, run: str = "", as_recorded: bool = False
) -> SignalReport:
    """The signals of `book` as they read after event `at` (a seq; None: after the last event).

    `run` is the name that the report carries; a book does not know where it was read from. `as_recorded` is for who
    writes a look or computes one again: its bytes are those that the run's thresholds have always given.
    """
    if at is None or at >= book.state.seq:
        return signals_of_state(book.state, profile, book.blobs, run=run, as_recorded=as_recorded)
    prefix = fold(event for event in book.events if event.seq <= at)
    return signals_of_state(prefix, profile, book.blobs, whole=False, run=run, as_recorded=as_recorded)


def signals_of_state(
    state: State,
    profile: SignalProfile,
    blobs: Blobs | None = None,
    *,
    whole: bool = True,
    run: str = "",
    parameters: CalibratedParameters | None = None,
    judgement: CalibratedJudgement | None = None,
    as_recorded: bool = False,
) -> SignalReport:
    """The same from a folded state alone.

    `blobs` are read only for the round files of an import. `whole` is false for the state of a prefix: round
    files of later rounds are then left out. `parameters` stand over the run's own in the profile `calibrated`,
    and a `judgement` is one that was kept up to date (`detectors.calibrated.judgement`).
    """
    seen = observe(state, blobs, whole=whole)
    needed, readings = _panel(seen, profile)
    satisfied = sum(signal.satisfied for signal in readings)
    failing = None
    if profile == "calibrated":
        failing = judgement or _judgement(state, blobs, parameters, as_recorded)
    stop = satisfied >= needed if failing is None else failing.stop
    quorum = state.quorum
    return SignalReport(
        run=run,
        profile=profile,
        at=state.seq,
        round=state.round,
        satisfied=satisfied,
        of=len(readings),
        stop=stop,
        advice=ADVICE.get(satisfied, "continue") if failing is None else failing.advice,
        quorum=StepQuorum(declared=quorum.declared, actual=quorum.actual),
        ready=stop if failing is None else failing.ready,
        gates=_gates(state, failing, as_recorded=as_recorded),
        signals=readings,
        alarms=_alarms(seen)
        if failing is None and profile == "text"
        else list(failing.alarms if failing else ()),
    )


def _judgement(
    state: State, blobs: Blobs | None, parameters: CalibratedParameters | None, as_recorded: bool
) -> CalibratedJudgement:
    """The profile `calibrated` is read for those who ask for it."""
    from detectors.calibrated.judgement import judge
    from detectors.calibrated.parameters import parameters_of

    return judge(state, parameters or parameters_of(state, blobs), as_recorded=as_recorded)


def _gates(state: State, judged: CalibratedJudgement | None, *, as_recorded: bool) -> list[GateReading]:
    """Those of the profile; one that has none shows the four of readiness, which decide nothing there."""
    if judged is not None:
        return list(judged.gates)
    if as_recorded or state.opened is None:
        return []
    from detectors.calibrated.gates import gates_beside

    return list(gates_beside(state))


def _panel(seen: Observations, profile: SignalProfile) -> tuple[int, list[Signal]]:
    if profile == "script":
        script = script_parameters()
        return script.stop.satisfied_at_least, [read(seen, script) for read in SCRIPT_PANEL]
    if profile in ("text", "calibrated"):  # the count of six is shown beside the gates, as the text reads it
        text = text_parameters()
        return text.stop.satisfied_at_least, [read(seen, text) for read in TEXT_PANEL]
    raise UnknownProfile(f"no profile {profile!r}: script, text or calibrated")


def _answered(state: State, found: SlopeAlarm) -> str:
    """Whether somebody has seen this fall and said what follows from it."""
    closed = any(
        one.fm == "FM-1" and one.action == "closed" and one.round >= found.onset_round for one in state.alarms
    )
    return ANSWERED if closed else ""


def _alarms(seen: Observations) -> list[AlarmReading]:
    alarm = alarm_over(seen.calm)
    if alarm is None:
        return []
    slopes = ", ".join(f"R{reading.round} {reading.slope}" for reading in alarm.slopes[-SLOPES_SHOWN:])
    return [
        AlarmReading(
            id="FM-1",
            verdict="ALARM",
            e_value=None,
            p_anytime=None,
            onset_round=alarm.onset_round,
            detail=f"disagreement is falling: slope at the end of {slopes}{_answered(seen.state, alarm)}",
            evidence=list(alarm.evidence),
        )
    ]
