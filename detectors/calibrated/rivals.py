"""FM-9, rivals unexamined: options that are in the race, and hardly a tested claim is about one of them alone.

Certain like FM-7, since nothing is left to chance: what was tested is on the ledger. It is asked once the others have
been tested enough that the neglect is no accident of the first round, and it is mended when the option was examined.
"""

from __future__ import annotations

from collections.abc import Sequence

from detectors.calibrated.parameters import CalibratedParameters
from detectors.calibrated.readiness import counted_alone, dropped
from detectors.calibrated.reading import ModeReading
from detectors.calibrated.rounds import RoundUnits
from detectors.report import AlarmVerdict
from ledger.state.state import State


def rivals_unexamined(
    state: State, rounds: Sequence[RoundUnits], parameters: CalibratedParameters, planned: int
) -> ModeReading:
    """FM-9 after the last round."""
    del planned
    rule = parameters.examined
    assert rule is not None, "thresholds of before have no such mode"
    assert rule.alarm_from_round is not None, "these thresholds do not ask for it"
    counts, gone = counted_alone(state), dropped(state)
    tested = sum(counts.values())
    short = {one: count for one, count in counts.items() if count < rule.tests_at_least and one not in gone}
    enough = len(rounds) >= rule.alarm_from_round and tested >= rule.others_tested_at_least
    untouched = [option for option, count in short.items() if not count]
    verdict: AlarmVerdict = "CLEAR"
    if len(counts) < 2 or not tested:
        verdict = "INSUFFICIENT"
    elif untouched and enough:
        verdict = "ALARM"
    elif short and enough:
        verdict = "WATCH"
    told = ", ".join(f"{option} {count}" for option, count in counts.items())
    return ModeReading(
        mode="FM-9",
        verdict=verdict,
        rounds=(),
        alarm_round=len(rounds) if verdict == "ALARM" else None,
        onset=1 if verdict in ("WATCH", "ALARM") else None,
        evidence=tuple(untouched or short),
        counter_evidence=(),
        bad=len(short),
        units=len(counts),
        needed=rule.others_tested_at_least,
        sentence=f"tested claims by option: {told or 'no options'}",
        mended=() if short else (len(rounds),),
        subject=", ".join(untouched or short),
        seen=tested,
    )
