"""READY: may the deliberation end? Five gates and no open alarm. The budget is never a reason to stop."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from detectors.calibrated.parameters import VERSION, CalibratedParameters, Ready
from detectors.calibrated.reading import Reading
from detectors.calibrated.rounds import RoundUnits
from detectors.observations import deliberating_roles, parts, untested
from ledger.state.state import State

DEFAULT_ROUNDS = 13
MOST_CONSEQUENTIAL = "critic"
NO_CLAIM = "no claim yet"
"""The value of a share of nothing."""
SCALED = "scaled to a full table"
"""Said with a yield of rounds from which somebody was absent: it is more than they brought."""


class GateReading(msgspec.Struct, frozen=True):
    """One gate: its value against its limit, in words."""

    name: str
    ok: bool
    value: str
    limit: str


def gates(
    state: State,
    rounds: Sequence[RoundUnits],
    readings: Sequence[Reading],
    parameters: CalibratedParameters,
    *,
    as_recorded: bool = False,
) -> tuple[GateReading, ...]:
    """The gates as they stand after the last round; `as_recorded` gives them the values that a look records."""
    rule = parameters.ready
    by_version_1 = as_recorded and parameters.version < VERSION
    part_of = parts(state)
    stressed = [each.round for each in rounds if part_of.get(each.absent or "") == MOST_CONSEQUENTIAL]
    honest = next((reading.verdict != "ALARM" for reading in readings if reading.mode == "FM-7"), True)
    last = state.drift[max(state.drift)].verdict if state.drift else None
    blocking = [
        *(reading.mode for reading in readings if is_open(state, reading)),
        *_watched(readings, parameters),
    ]
    return (
        GateReading(
            "rounds", len(rounds) >= rule.rounds_at_least, str(len(rounds)), f"≥{rule.rounds_at_least}"
        ),
        _pending(state, rule, by_version_1),
        GateReading(
            "critic_stressed",
            bool(stressed) and honest,
            f"absent in {', '.join(f'R{number}' for number in stressed)}" if stressed else "never absent",
            "really absent once",
        ),
        GateReading("drift", last != "FAIL", last or "no drift check", "last one not FAIL"),
        _yield(state, rounds, rule, by_version_1),
        GateReading("alarms", not blocking, ", ".join(blocking) or "none", "none open"),
    )


def _pending(state: State, rule: Ready, by_version_1: bool) -> GateReading:
    share = len(untested(state)) / len(state.claims) if state.claims else 1.0
    value = f"{share:.1%}" if state.claims or by_version_1 else NO_CLAIM
    return GateReading("pending", share <= rule.pending_at_most, value, f"≤{rule.pending_at_most:.0%}")


def _yield(state: State, rounds: Sequence[RoundUnits], rule: Ready, by_version_1: bool) -> GateReading:
    late, limit = late_yield(state, rounds, rule.window_rounds), f"≤{rule.yield_at_most:.0%}"
    if by_version_1:
        value = f"{first_yield(state, rounds, rule.window_rounds):.1%}"
    else:
        value = f"{late:.1%}" if any(each.arrivals for each in rounds) else NO_CLAIM
        last, full = rounds[-rule.window_rounds :], len(deliberating_roles(state))
        limit += f", {SCALED}" if any(len(each.present) < full for each in last) else ""
    return GateReading("yield", late <= rule.yield_at_most, value, limit)


def _watched(readings: Sequence[Reading], parameters: CalibratedParameters) -> list[str]:
    """Agreement that nothing earned withholds READY before it alarms (FM-1; not by thresholds of version 1)."""
    if parameters.unanimity is None:
        return []
    return [f"{each.mode} watched" for each in readings if each.mode == "FM-1" and each.verdict == "WATCH"]


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


def is_open(state: State, reading: Reading) -> bool:
    """An alarm that nobody has answered: it latches until a recorded closing."""
    if reading.verdict != "ALARM":
        return False
    since = reading.alarm_round or 0
    return not any(
        alarm.fm == reading.mode and alarm.action == "closed" and alarm.round >= since
        for alarm in state.alarms
    )


def planned_rounds(state: State) -> int:
    """Rounds of the plan that deliberate: the B of the engine."""
    if state.opened is None:
        return DEFAULT_ROUNDS
    return sum("G" in row.phases for row in state.opened.plan) or DEFAULT_ROUNDS
