"""Gates: what must hold before a deliberation may stop. `reachable` is a notice and decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detectors.observations import parts, untested
from detectors.report import GateReading
from detectors.stopping.parameters import GateParameters
from detectors.stopping.readiness import CRITIC, examined, passes_drift, reachable, settled, unblocked
from detectors.stopping.reading import ModeReading, closing_round
from detectors.stopping.rounds import RoundUnits
from ledger.state.state import State

NO_CLAIM: Final = "no claim yet"
"""The value of a share of nothing."""


def gates(
    state: State,
    rounds: Sequence[RoundUnits],
    readings: Sequence[ModeReading],
    parameters: GateParameters,
) -> tuple[GateReading, ...]:
    """Return the gates as they stand after the last round."""
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
    most = parameters.untested.share_at_most
    # Without claims everything counts as untested, so that a silent run is never ready.
    share = len(untested(state)) / len(state.claims) if state.claims else 1.0
    value, text = NO_CLAIM, "no claim was raised yet"
    if state.claims:
        value, text = f"{share:.1%}", f"{share:.0%} of claims are untested ({most:.0%} at most)"
    return GateReading("untested", share <= most, value, f"≤{most:.0%}", text)


def _critic_absent_once(
    state: State, rounds: Sequence[RoundUnits], readings: Sequence[ModeReading]
) -> GateReading:
    part_of = parts(state)
    stressed = [each.round for each in rounds if part_of.get(each.absent or "") == CRITIC]
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
        and (each.rounds[-1] >= rule.e_value_below or each.late >= rule.late_value_below or each.has_begun)
    ]
    e_values = "; ".join(f"{each.mode} E {each.e_value}, of late {each.late:.1f}" for each in speaking)
    text = f"a failure may be starting: {', '.join(each.mode for each in speaking)}"
    return GateReading(
        "cautious",
        not speaking,
        e_values or "nothing speaks for a failure",
        f"every E <{rule.e_value_below:g}, and <{rule.late_value_below:g} in the last {rule.late_rounds} rounds",
        text if speaking else "no failure seems to be starting",
    )


def is_open(state: State, reading: ModeReading) -> bool:
    """Return whether an alarm is raised and not answered: it latches until a recorded closing.

    New evidence opens it again: an onset after the closing.
    """
    if reading.verdict != "ALARM":
        return False
    # A closing covers what was seen by then. An alarm or onset after it is a new one.
    return closing_round(state, reading.mode) < max(reading.alarm_round or 0, reading.onset or 0)
