"""The gates of the profile `calibrated`: those that decide by its thresholds, and those that are shown beside them.

Thresholds of version 3 decide by what a run has: *examined*, *settled*, *blocked*, *reachable* and the untested share,
an honest absence of the critic, the last drift check, open alarms. Rounds and yield are shown: a run that asks for
claims in every step brings them in every round, so their share says how late it is and not how much is left.
Thresholds of before decide by rounds and yield, and the four stand beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from detectors.calibrated.parameters import (
    CLOSES_ALL_SINCE,
    CalibratedParameters,
    ExaminedTerms,
    Ready,
    SettledTerms,
    calibrated_parameters,
)
from detectors.calibrated.readiness import CRITIC, blocked, examined, passes_drift, reachable, settled
from detectors.calibrated.reading import ModeReading
from detectors.calibrated.rounds import RoundUnits, count_rounds
from detectors.observations import deliberating_roles, parts, untested
from detectors.report import GateReading
from ledger.state.state import State

DECIDES_SINCE: Final = 3
"""Version of the thresholds from which the four decide, and rounds and yield do not."""
SAYS_NO_CLAIM_SINCE: Final = 2
"""Version of the thresholds from which looks say that there is no claim yet."""
NOT_DECIDING: Final = frozenset({"rounds", "yield"})
NO_CLAIM: Final = "no claim yet"
"""The value of a share of nothing."""
SCALED: Final = "scaled to a full table"
"""Said with a yield of rounds from which somebody was absent: it is more than they brought."""


def gates(
    state: State,
    rounds: Sequence[RoundUnits],
    readings: Sequence[ModeReading],
    parameters: CalibratedParameters,
    *,
    as_recorded: bool = False,
) -> tuple[GateReading, ...]:
    """The gates as they stand after the last round; `as_recorded` gives those that a look records, and as it does."""
    counted = (
        _rounds(rounds, parameters.ready),
        _pending(state, parameters, as_recorded=as_recorded),
        _critic_stressed(state, rounds, readings, parameters),
        _drift(state, parameters),
        _yield(state, rounds, parameters, as_recorded=as_recorded),
        _alarms(state, readings, parameters),
        *_cautious(state, readings, parameters),
    )
    if parameters.version < DECIDES_SINCE:
        return counted if as_recorded else (*counted, *gates_beside(state, rounds))
    own = [gate for gate in counted if gate.name not in NOT_DECIDING]
    three = _three(state, len(rounds), parameters, as_recorded=as_recorded)
    rule = thresholds_of_readiness(parameters)[1]
    within = reachable(state, rounds, rule, others_hold=all(gate.ok for gate in (*three, *own)))
    shown = [] if as_recorded else _beside(gate for gate in counted if gate.name in NOT_DECIDING)
    return (*three, within, *own, *shown)


def gates_beside(state: State, rounds: Sequence[RoundUnits] | None = None) -> tuple[GateReading, ...]:
    """The four by the installed thresholds, for whoever does not decide by them."""
    installed = calibrated_parameters()
    held = count_rounds(state, installed.bypass.references_at_least) if rounds is None else rounds
    within = reachable(state, held, thresholds_of_readiness(installed)[1])
    return tuple(_beside((*_three(state, len(held), installed), within)))


def thresholds_of_readiness(parameters: CalibratedParameters) -> tuple[ExaminedTerms, SettledTerms]:
    """Thresholds of before have none of these: then the installed ones."""
    installed = calibrated_parameters()
    tests, still = parameters.examined or installed.examined, parameters.settled or installed.settled
    assert tests, "the installed thresholds have this table"
    assert still, "the installed thresholds have this table"
    return tests, still


def _three(
    state: State, held: int, parameters: CalibratedParameters, *, as_recorded: bool = False
) -> tuple[GateReading, ...]:
    tests, still = thresholds_of_readiness(parameters)
    return examined(state, tests), settled(state, held, still, as_recorded=as_recorded), blocked(state)


def _beside(found: Iterable[GateReading]) -> list[GateReading]:
    return [msgspec.structs.replace(gate, decides=False) for gate in found]


def _rounds(rounds: Sequence[RoundUnits], rule: Ready) -> GateReading:
    return GateReading(
        "rounds", len(rounds) >= rule.rounds_at_least, str(len(rounds)), f"≥{rule.rounds_at_least}"
    )


def _pending(state: State, parameters: CalibratedParameters, *, as_recorded: bool) -> GateReading:
    rule = parameters.ready
    share = len(untested(state)) / len(state.claims) if state.claims else 1.0
    as_first = as_recorded and parameters.version < SAYS_NO_CLAIM_SINCE
    value = f"{share:.1%}" if state.claims or as_first else NO_CLAIM
    return GateReading("pending", share <= rule.pending_at_most, value, f"≤{rule.pending_at_most:.0%}")


def _critic_stressed(
    state: State,
    rounds: Sequence[RoundUnits],
    readings: Sequence[ModeReading],
    parameters: CalibratedParameters,
) -> GateReading:
    part_of = parts(state)
    stressed = [each.round for each in rounds if part_of.get(each.absent or "") == CRITIC]
    closes = parameters.version >= CLOSES_ALL_SINCE
    honest = not any(
        is_open(state, reading) if closes else reading.verdict == "ALARM"
        for reading in readings
        if reading.mode == "FM-7"
    )
    told = f"absent in {', '.join(f'R{number}' for number in stressed)}" if stressed else "never absent"
    return GateReading("critic_stressed", bool(stressed) and honest, told, "really absent once")


def _drift(state: State, parameters: CalibratedParameters) -> GateReading:
    last = state.drift[max(state.drift)] if state.drift else None
    told = last.verdict if last else "no drift check"
    if parameters.version < DECIDES_SINCE:
        return GateReading("drift", told != "FAIL", told, "last one not FAIL")
    if last is not None and last.neglected:
        told += f", neglected: {', '.join(last.neglected)}"
    return GateReading("drift", passes_drift(state), told, "last one not FAIL, and no goal neglected")


def _yield(
    state: State, rounds: Sequence[RoundUnits], parameters: CalibratedParameters, *, as_recorded: bool
) -> GateReading:
    rule = parameters.ready
    late, limit = late_yield(state, rounds, rule.window_rounds), f"≤{rule.yield_at_most:.0%}"
    if as_recorded and parameters.version < SAYS_NO_CLAIM_SINCE:
        value = f"{first_yield(state, rounds, rule.window_rounds):.1%}"
    else:
        value = f"{late:.1%}" if any(each.arrivals for each in rounds) else NO_CLAIM
        last, full = rounds[-rule.window_rounds :], len(deliberating_roles(state))
        limit += f", {SCALED}" if any(len(each.present) < full for each in last) else ""
    return GateReading("yield", late <= rule.yield_at_most, value, limit)


def _alarms(state: State, readings: Sequence[ModeReading], parameters: CalibratedParameters) -> GateReading:
    blocking = [
        *(reading.mode for reading in readings if is_open(state, reading)),
        *_watched(readings, parameters),
    ]
    return GateReading("alarms", not blocking, ", ".join(blocking) or "none", "none open")


def _watched(readings: Sequence[ModeReading], parameters: CalibratedParameters) -> list[str]:
    """Agreement that nothing earned withholds READY before it alarms (FM-1; not by thresholds of version 1)."""
    if parameters.unanimity is None:
        return []
    return [f"{each.mode} watched" for each in readings if each.mode == "FM-1" and each.verdict == "WATCH"]


def _cautious(
    state: State, readings: Sequence[ModeReading], parameters: CalibratedParameters
) -> list[GateReading]:
    """Whether something may be going wrong that is too young for an alarm (not by thresholds of before).

    A mode whose alarm was answered is left to its answer.
    """
    rule = parameters.cautious
    if rule is None:
        return []
    speaking = [
        f"{each.mode} E {each.e_value}, of late {each.late:.1f}"
        for each in readings
        if (each.verdict != "ALARM" or is_open(state, each))
        and each.rounds
        and (each.rounds[-1] >= rule.e_value_below or each.late >= rule.late_value_below)
    ]
    limit = f"every E <{rule.e_value_below:g}, and <{rule.late_value_below:g} in the last {rule.late_rounds} rounds"
    return [
        GateReading("cautious", not speaking, "; ".join(speaking) or "nothing speaks for a failure", limit)
    ]


def late_yield(state: State, rounds: Sequence[RoundUnits], window_rounds: int) -> float:
    """What the last rounds brought, as a share of all claims, scaled to artifacts of a full table; 1 at most.

    Where fewer rounds were held than the window has, these are all of them.
    """
    return min(1.0, first_yield(state, rounds, min(window_rounds, max(1, len(rounds)))))


def first_yield(state: State, rounds: Sequence[RoundUnits], window_rounds: int) -> float:
    """The same as looks by thresholds of version 1 recorded it: more than all claims in the first rounds."""
    last = rounds[-window_rounds:]
    artifacts = sum(len(each.present) for each in last)
    total = sum(len(each.arrivals) for each in rounds)
    if not artifacts or not total:
        return 1.0
    new = sum(len(each.arrivals) for each in last)
    return window_rounds * len(deliberating_roles(state)) * (new / artifacts) / total


def is_open(state: State, reading: ModeReading) -> bool:
    """An alarm that nobody has answered: it latches until a recorded closing."""
    if reading.verdict != "ALARM":
        return False
    since = reading.alarm_round or 0
    return not any(
        alarm.fm == reading.mode and alarm.action == "closed" and alarm.round >= since
        for alarm in state.alarms
    )
