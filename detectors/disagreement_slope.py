"""Fading disagreement in mid-run: the slope is negative at the end of two rounds running (SD-22, FM-1).

Read over the rounds in which nobody was absent, because an absent role takes checks away. A slope needs three
such rounds and two readings in a row need one more, so the alarm can be raised from the fourth on.
"""

from __future__ import annotations

import msgspec

from detectors.observations import Tally, deliberation_rounds
from detectors.parameters import text_parameters
from detectors.report import EVIDENCE_MAX, decimal_string
from detectors.slopes import exact_slopes
from ledger.state.state import State


class SlopeReading(msgspec.Struct, frozen=True):
    """The slope of disagreement per round (decimal string) as it stood at the end of a round."""

    round: int
    slope: str


class SlopeAlarm(msgspec.Struct, frozen=True):
    """Disagreement has been falling since `onset_round`; one reading for every round since then.

    `evidence`: the ROBUST verdicts from the onset on, the latest first: what took the place of disagreement.
    """

    onset_round: int
    slopes: tuple[SlopeReading, ...]
    evidence: tuple[str, ...]


def slope_alarm(state: State) -> SlopeAlarm | None:
    """The alarm as it stands after the last whole round, None when disagreement holds."""
    return alarm_over(tuple(tally for tally in deliberation_rounds(state) if not tally.stress))


def alarm_over(rounds: tuple[Tally, ...]) -> SlopeAlarm | None:
    """The same over rounds without stress."""
    rule = text_parameters().slope_alarm
    points = [(tally.round, tally.disagreement) for tally in rounds]
    slopes = exact_slopes(points)  # slopes[k] is read at the end of round k + 1, counted from 0
    falling: list[SlopeReading] = []
    for index in range(len(slopes) - 1, rule.rounds_at_least - 3, -1):
        if slopes[index] >= 0:
            break
        falling.append(SlopeReading(points[index + 1][0], decimal_string(slopes[index])))
    if len(falling) < rule.readings_running:
        return None
    onset = falling[-1].round
    robust = [identity for tally in reversed(rounds) if tally.round >= onset for identity in tally.robust]
    return SlopeAlarm(onset, tuple(reversed(falling)), tuple(robust[:EVIDENCE_MAX]))
