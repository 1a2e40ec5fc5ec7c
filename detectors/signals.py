"""Stop checks of a run: the gates or, as published, the six signals; their count, and the verdict (SD-60)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from detectors.claims_tested import claim_testing_slows, few_claims_untested
from detectors.disagreement import SlopeAlarm, alarm_over, disagreement_persists
from detectors.drift_checks_pass import drift_checks_pass
from detectors.observations import Observations, observe
from detectors.parameters import (
    PROFILES,
    PublishedParameters,
    SignalProfile,
    params_hash,
    published_parameters,
)
from detectors.report import AlarmReading, GateReading, Signal, SignalReport, StepQuorum, StopVerdict
from detectors.roles_rotated import every_role_led, roles_were_stressed
from ledger.events.decisions import Advice
from ledger.events.values import FailureMode
from ledger.state.book import Blobs, Book
from ledger.state.fold import fold
from ledger.state.state import State

if TYPE_CHECKING:
    from detectors.stopping.judgement import StopJudgement
    from detectors.stopping.parameters import GateParameters

SIGNALS: Final[tuple[Callable[[Observations, PublishedParameters], Signal], ...]] = (
    claim_testing_slows,
    disagreement_persists,
    every_role_led,
    roles_were_stressed,
    drift_checks_pass,
    few_claims_untested,
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
    """Profile that is not installed."""


def signals(book: Book, profile: str, at: int | None = None, *, run: str = "") -> SignalReport:
    """Return the stop checks of `book` as they read after event `at` (a seq; None: after the last event).

    `run` is the name that the report carries; a book does not know where it was read from.
    """
    # The folded state of the whole run exists already; only an earlier point needs a second fold.
    if at is None or at >= book.state.seq:
        return signals_of_state(book.state, profile, book.blobs, run=run)
    prefix = fold(event for event in book.events if event.seq <= at)
    return signals_of_state(prefix, profile, book.blobs, run=run)


def signals_of_state(
    state: State,
    profile: str,
    blobs: Blobs | None = None,
    *,
    run: str = "",
    parameters: GateParameters | None = None,
    judgement: StopJudgement | None = None,
) -> SignalReport:
    """Return the same from a folded state alone.

    `parameters` replace the run's own in the profile `gates`, and a `judgement` is one that was kept up to date
    (`detectors.stopping.judgement`).
    """
    if profile not in PROFILES:
        raise UnknownProfile(f"no profile {profile!r}: gates or published")
    seen, rule = observe(state), published_parameters()
    readings = [read(seen, rule) for read in SIGNALS]
    satisfied = sum(signal.satisfied for signal in readings)
    report = SignalReport(
        run=run,
        profile=profile,
        at=state.seq,
        round=state.round,
        verdict="go_on",
        headline="",
        waits_for=[],
        satisfied=satisfied,
        of=len(readings),
        stop=satisfied >= rule.stop.satisfied_at_least,
        advice=ADVICE.get(satisfied, "continue"),
        quorum=StepQuorum(declared=state.quorum.declared, actual=state.quorum.actual),
        ready=satisfied >= rule.stop.satisfied_at_least,
        gates=[],
        signals=readings,
        alarms=_published_alarms(seen, satisfied) if profile == "published" else [],
    )
    if profile == "gates":
        report = _by_gates(report, judgement or _judgement(state, blobs, parameters))
    return _with_verdict(report, state)


def _judgement(state: State, blobs: Blobs | None, parameters: GateParameters | None) -> StopJudgement:
    """Read the gates only for those who ask for them: their parameters are a file of the run."""
    from detectors.stopping.judgement import judge
    from detectors.stopping.parameters import parameters_of

    return judge(state, parameters or parameters_of(state, blobs))


def _by_gates(report: SignalReport, judged: StopJudgement) -> SignalReport:
    return msgspec.structs.replace(
        report,
        stop=judged.stop,
        advice=judged.advice,
        ready=judged.ready,
        gates=list(judged.gates),
        alarms=list(judged.alarms),
    )


def _with_verdict(report: SignalReport, state: State) -> SignalReport:
    verdict: StopVerdict = "stop" if report.ready else "wait" if report.stop else "go_on"
    # A finished run cannot go on or wait, whatever its gates say.
    if state.finished and not report.ready:
        verdict = "ended"
    return msgspec.structs.replace(
        report, verdict=verdict, waits_for=_waits_for(state) if verdict == "wait" else []
    )


def _waits_for(state: State) -> list[str]:
    # Imported here, because only a run that waits needs the questions.
    from detectors.stopping.questions import deciding_questions

    return [question.id for question in deciding_questions(state)]


def _published_alarms(seen: Observations, satisfied: int) -> list[AlarmReading]:
    """Fading disagreement (FM-1, SD-22), and a plan that is over with few signals (FM-8, SD-85)."""
    readings: list[AlarmReading] = []
    slope = alarm_over(seen.calm)
    if slope is not None:
        slopes = ", ".join(f"R{reading.round} {reading.slope}" for reading in slope.slopes[-SLOPES_SHOWN:])
        detail = f"disagreement is falling: slope at the end of {slopes}"
        readings.append(
            _alarm("FM-1", slope.onset_round, detail, slope.evidence, _is_open(seen.state, slope))
        )
    opened = seen.state.opened
    planned = sum("G" in row.phases for row in opened.plan) if opened is not None else 0
    # A plan that is over with few signals shows a run that deliberates without converging.
    if 0 < planned <= len(seen.rounds) and satisfied <= published_parameters().overrun.signals_at_most:
        detail = f"all {planned} planned rounds were held, and {satisfied} of {len(SIGNALS)} signals hold"
        readings.append(_alarm("FM-8", planned, detail, (), is_open=not seen.state.finished))
    return readings


def _alarm(
    mode: FailureMode, onset: int, detail: str, evidence: Sequence[str], is_open: bool
) -> AlarmReading:
    return AlarmReading(
        id=mode,
        verdict="ALARM",
        is_open=is_open,
        e_value=None,
        p_anytime=None,
        onset_round=onset,
        detail=detail,
        evidence=list(evidence),
    )


def _is_open(state: State, alarm: SlopeAlarm) -> bool:
    """Return whether no closing of this fall is on record."""
    return not any(
        closing.fm == "FM-1" and closing.action == "closed" and closing.round >= alarm.onset_round
        for closing in state.alarms
    )
