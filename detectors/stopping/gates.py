"""Gates, and the judgment of the profile `gates`: the failure modes, the gates, and what follows from them.

A run may stop when every gate that decides holds; `reachable` is a notice and decides nothing. A spent budget is never
a reason to stop. Where nothing but *unblocked* fails, more rounds of reading cannot help: the run stops deliberating
and waits for a person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from detectors.observations import is_import, untested
from detectors.parameters import GateParameters, gate_parameters
from detectors.report import AlarmReading, GateReading
from detectors.stopping.certain_modes import rivals_unexamined, stress_avoidance
from detectors.stopping.failure_modes import (
    claim_supply,
    domination,
    goal_drift,
    pro_forma_broken,
    sycophancy,
    verification_bypass,
)
from detectors.stopping.readiness import examined, passes_drift, reachable, settled, unblocked, without_critic
from detectors.stopping.reading import ModeReading, RunSoFar, is_open
from detectors.stopping.rounds import RoundUnits, count_rounds
from ledger.events.decisions import Advice
from ledger.events.envelope import FailureMode
from ledger.state.state import State

PANEL: Final[tuple[Callable[[RunSoFar], ModeReading], ...]] = (
    sycophancy,
    pro_forma_broken,
    goal_drift,
    domination,
    claim_supply,
    verification_bypass,
    stress_avoidance,
    rivals_unexamined,
)
"""FM-1 … FM-7 and FM-9, in this order."""
DEFAULT_ROUNDS = 13


def planned_rounds(state: State) -> int:
    """Return the number of planned rounds that deliberate: the B of the engine."""
    if state.opened is None:
        return DEFAULT_ROUNDS
    return sum("G" in row.phases for row in state.opened.plan) or DEFAULT_ROUNDS


_NOUNS: Final[Mapping[FailureMode, str]] = {"FM-5": "rounds", "FM-9": "tested claims"}
"""Failure mode → what is counted until it can be read."""
_BY_FORMS: Final[frozenset[FailureMode]] = frozenset({"FM-2", "FM-3", "FM-6"})
"""Modes whose bad unit a form can exclude."""
HARDLY_CHANCE: Final = 0.05


class StopJudgement(msgspec.Struct, frozen=True):
    """Judgment whether the run may end, by which gates, and the failure modes in the order of their alarms.

    `stop` without `ready`: what is missing is not to be had by going on.
    """

    ready: bool
    stop: bool
    advice: Advice
    gates: list[GateReading]
    alarms: list[AlarmReading]


def readings_of(state: State, parameters: GateParameters | None = None) -> tuple[ModeReading, ...]:
    """Return every failure mode after the last round of `state`, by the given or the installed thresholds."""
    run = _run_so_far(state, parameters or gate_parameters())
    return tuple(read(run) for read in PANEL)


def _run_so_far(state: State, parameters: GateParameters) -> RunSoFar:
    rounds = count_rounds(state, parameters.bypass.references_at_least)
    return RunSoFar(state, rounds, parameters, planned_rounds(state))


def judge(state: State, parameters: GateParameters | None = None) -> StopJudgement:
    """Return the judgment after the last round of `state`."""
    run = _run_so_far(state, parameters or gate_parameters())
    readings = [read(run) for read in PANEL]
    all_gates = gates(run, readings)
    failing = [gate.name for gate in all_gates if gate.decides and not gate.ok]
    # Only this gate can be opened from outside alone. With any other failing, deliberation can still help.
    waits = failing == ["unblocked"]
    out_of_reach = not all(gate.ok for gate in all_gates if gate.name == "reachable")
    # Escalate instead of going on when the rest of the plan cannot make the run ready.
    in_vain = waits or out_of_reach or len(run.rounds) >= run.planned
    first = min((reading.alarm_round or 0 for reading in readings if is_open(state, reading)), default=None)
    return StopJudgement(
        ready=not failing,
        stop=waits or not failing,
        advice="strong_stop" if not failing else "escalate" if in_vain else "continue",
        gates=list(all_gates),
        alarms=[_alarm_reading(state, reading, first) for reading in readings],
    )


def _alarm_reading(state: State, reading: ModeReading, first: int | None) -> AlarmReading:
    """Return a reading in words; of several open alarms the earliest is the suspected cause."""
    detail = reading.sentence
    if reading.verdict == "INSUFFICIENT":
        noun = _NOUNS.get(reading.mode, "units")
        detail = f"too little to say ({reading.seen} of {reading.needed} {noun} needed): {detail}"
    excluded = unmeasured(state, reading)
    if excluded:
        detail = f"not measurable here: {excluded}"
    still_open = is_open(state, reading)
    if reading.verdict == "ALARM":
        part = "perhaps a consequence of the earlier alarm"
        if reading.alarm_round == first:
            part = "suspected cause"
        detail = f"{detail} (alarm since R{reading.alarm_round}: {part if still_open else 'answered'})"
    if reading.counter_evidence:
        detail = f"{detail}; against it: {', '.join(reading.counter_evidence[:5])}"
    return AlarmReading(
        id=reading.mode,
        verdict="INSUFFICIENT" if excluded else reading.verdict,
        is_open=still_open,
        e_value=reading.e_value if reading.rounds else None,
        p_anytime=reading.p_anytime if reading.rounds else None,
        onset_round=reading.onset,
        detail=detail,
        evidence=list(reading.evidence),
    )


def unmeasured(state: State, reading: ModeReading) -> str:
    """Return why the silence of a mode says nothing: the run's forms leave no room for its bad unit.

    So many good units without a bad one are hardly chance at the tolerated rate. Empty where the mode is measured; an
    import was asked in forms that are not known.
    """
    tolerated = reading.tolerated
    if reading.mode not in _BY_FORMS or tolerated is None or reading.verdict != "CLEAR" or is_import(state):
        return ""
    bad, units = sum(bad for bad, _ in reading.counts), sum(all_ for _, all_ in reading.counts)
    # If good units alone are plausible by chance at the tolerated rate, the silence may be real.
    if bad or (1 - tolerated) ** units >= HARDLY_CHANCE:
        return ""
    return f"0 of {units} where {tolerated:.0%} is tolerated"


NO_CLAIM: Final = "no claim yet"
"""The value of a share of nothing."""


def gates(run: RunSoFar, readings: Sequence[ModeReading]) -> tuple[GateReading, ...]:
    """Return the gates as they stand after the last round."""
    state, rounds, parameters = run.state, run.rounds, run.parameters
    deciding = (
        examined(state, parameters.examined),
        settled(state, len(rounds), parameters.settled),
        unblocked(state),
        _untested(state, parameters),
        _critic_absent_once(state, rounds, readings),
        _on_goal(state),
        _no_alarms(state, readings),
        _cautious(state, readings, parameters),
    )
    # When all other gates hold, nothing is left to be reached, and the notice must not say otherwise.
    notice = reachable(state, rounds, parameters.settled, others_hold=all(gate.ok for gate in deciding))
    return (*deciding, notice)


def _untested(state: State, parameters: GateParameters) -> GateReading:
    most = parameters.untested["share_at_most"]
    # Without claims everything counts as untested, so that a silent run is never ready.
    share = len(untested(state)) / len(state.claims) if state.claims else 1.0
    value, text = NO_CLAIM, "no claim was raised yet"
    if state.claims:
        value, text = f"{share:.1%}", f"{share:.0%} of claims are untested ({most:.0%} at most)"
    return GateReading("untested", share <= most, value, f"≤{most:.0%}", text)


def _critic_absent_once(
    state: State, rounds: Sequence[RoundUnits], readings: Sequence[ModeReading]
) -> GateReading:
    stressed = without_critic(state, rounds)
    # An absence that was avoided elsewhere makes a single real one look better than the plan deserves.
    honest = not any(is_open(state, reading) for reading in readings if reading.mode == "FM-7")
    rounds_absent = (
        f"absent in {', '.join(f'R{number}' for number in stressed)}" if stressed else "never absent"
    )
    text = f"the critic was {rounds_absent}" if stressed else "no round was held without the critic"
    text += "" if honest else ", but a planned absence was avoided (FM-7)"
    return GateReading(
        "critic_absent_once", bool(stressed) and honest, rounds_absent, "really absent once", text
    )


def _on_goal(state: State) -> GateReading:
    last = state.drift[max(state.drift)] if state.drift else None
    verdict = last.verdict if last else "no drift check"
    if last is not None and last.neglected:
        verdict += f", neglected: {', '.join(last.neglected)}"
    text = f"last drift check: {verdict}" if last else "no drift check was made"
    limit = "last drift check not FAIL, and no goal neglected"
    return GateReading("on_goal", passes_drift(state), verdict, limit, text)


def _no_alarms(state: State, readings: Sequence[ModeReading]) -> GateReading:
    """Return the gate that is closed while an alarm is open.

    Unearned agreement withholds the stop before it alarms (FM-1 on watch).
    """
    blocking = [
        *(reading.mode for reading in readings if is_open(state, reading)),
        *(f"{each.mode} watched" for each in readings if each.mode == "FM-1" and each.verdict == "WATCH"),
    ]
    names = ", ".join(blocking) or "none"
    text = f"open: {names}" if blocking else "no alarm is open"
    return GateReading("no_alarms", not blocking, names, "none open", text)


def _cautious(state: State, readings: Sequence[ModeReading], parameters: GateParameters) -> GateReading:
    """Return the gate that is closed while something may be going wrong that is too young for an alarm.

    An answered alarm is left to its answer.
    """
    rule = parameters.cautious
    speaking = [
        each
        for each in readings
        if (each.verdict != "ALARM" or is_open(state, each))
        and each.rounds
        and (
            each.rounds[-1] >= rule.e_value_below
            or each.late_value >= rule.late_value_below
            or each.has_begun
        )
    ]
    e_values = "; ".join(f"{each.mode} E {each.e_value}, of late {each.late_value:.1f}" for each in speaking)
    text = f"a failure may be starting: {', '.join(each.mode for each in speaking)}"
    return GateReading(
        "cautious",
        not speaking,
        e_values or "nothing speaks for a failure",
        f"every E <{rule.e_value_below:g}, and <{rule.late_value_below:g} in the last {rule.late_rounds} rounds",
        text if speaking else "no failure seems to be starting",
    )
