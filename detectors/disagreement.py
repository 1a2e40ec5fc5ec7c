"""Disagreement by its slope: S2 at the end, and in mid-run when it fades two rounds running (SD-22, SD-63, FM-1).

S2: the slope of BROKEN and UNCLEAR verdicts per round does not fall too fast. In mid-run: the slope is negative at
the
end of two rounds running, read over the rounds in which no role was absent, because an absent role takes checks away.
A
slope needs three such rounds and two readings in a row need one more, so the alarm can be raised from the fourth on.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import msgspec

from detectors.observations import Observations, Tally, deliberation_rounds
from detectors.parameters import PublishedParameters, published_parameters
from detectors.report import EVIDENCE_MAX, Signal, decimal_string, reading, short
from ledger.plain_text import counted
from ledger.state.state import State


def exact_slope(points: Sequence[tuple[int, int]]) -> Fraction:
    """Return the slope of the regression line through `points`, two or more with different x."""
    return exact_slopes(points)[-1]


def exact_slopes(points: Sequence[tuple[int, int]]) -> list[Fraction]:
    """Return the slope after every point from the second on; x must not repeat. One pass."""
    slopes: list[Fraction] = []
    sum_x = sum_y = sum_xy = sum_xx = 0
    for count, (x, y) in enumerate(points, start=1):
        sum_x, sum_y, sum_xy, sum_xx = sum_x + x, sum_y + y, sum_xy + x * y, sum_xx + x * x
        if count > 1:
            # Exact fractions: whether a slope is negative must not depend on the order of float additions.
            slopes.append(Fraction(count * sum_xy - sum_x * sum_y, count * sum_xx - sum_x * sum_x))
    return slopes


FADES: Final = "Disagreement fades with discovery"


def disagreement_persists(seen: Observations, parameters: PublishedParameters) -> Signal:
    """Report whether the slope without stress holds, overall and at the end, or discovery fell (SD-63 [T], SD-91).

    The second way to hold is the source's own: a slope below zero beside fewer new tensions and BROKEN verdicts is
    called legitimate convergence. Nothing persists there, so the reading does not carry that name.
    """
    rule = parameters.disagreement_persists
    limit = Fraction(rule.slope_at_least)
    rounds = seen.calm
    if len(rounds) < rule.rounds_at_least:
        return _too_few(rounds, "without stress", rule.rounds_at_least)
    points = [(tally.round, tally.disagreement) for tally in rounds]
    slope, late = exact_slope(points), exact_slope(points[-rule.last_rounds :])
    discovery = exact_slope([(tally.round, tally.discovery) for tally in rounds])
    if slope >= limit:
        satisfied, reason = late >= limit, f"the last {rule.last_rounds} alone: {short(late)}"
    elif discovery < 0:
        satisfied = True
        reason = (
            f"it falls, and new tensions and BROKEN verdicts fall too, by {short(-discovery)}: the source calls "
            "that convergence and lets it pass (SD-63)"
        )
    else:
        satisfied = False
        reason = f"it falls, and new tensions and BROKEN verdicts do not: {short(discovery)}"
    return reading(
        "S2",
        satisfied,
        f"disagreement changes by {short(slope)} a round over {len(rounds)} rounds without stress; {reason}",
        slope,
        limit,
        _disagreeing(rounds),
        name=FADES if satisfied and slope < limit else None,
    )


def _too_few(rounds: Sequence[Tally], which: str, needed: int) -> Signal:
    return reading("S2", False, f"{counted(len(rounds), 'round')} {which}; a slope needs {needed}")


def _disagreeing(rounds: Sequence[Tally]) -> list[str]:
    return [identity for tally in reversed(rounds) for identity in tally.disagreeing]


class SlopeReading(msgspec.Struct, frozen=True):
    """Slope of disagreement per round (decimal string) at the end of a round."""

    round: int
    slope: str


class SlopeAlarm(msgspec.Struct, frozen=True):
    """Fall of disagreement since `onset_round`, with one reading for every round since then.

    `evidence`: the ROBUST verdicts from the onset on, the latest first: what took the place of disagreement.
    """

    onset_round: int
    slopes: tuple[SlopeReading, ...]
    evidence: tuple[str, ...]


def slope_alarm(state: State) -> SlopeAlarm | None:
    """Return the alarm after the last whole round, None when disagreement holds."""
    return alarm_over(tuple(tally for tally in deliberation_rounds(state) if not tally.stress))


def alarm_over(rounds: tuple[Tally, ...]) -> SlopeAlarm | None:
    """Return the same over rounds without stress."""
    rule = published_parameters().slope_alarm
    points = [(tally.round, tally.disagreement) for tally in rounds]
    slopes = exact_slopes(points)  # slopes[k] is read at the end of round k + 1, counted from 0
    falling: list[SlopeReading] = []
    # Walk back from the last round to the first one with enough points, and stop where the slope did not fall.
    for index in range(len(slopes) - 1, rule.rounds_at_least - 3, -1):
        if slopes[index] >= 0:
            break
        falling.append(SlopeReading(points[index + 1][0], decimal_string(slopes[index])))
    if len(falling) < rule.readings_running:
        return None
    onset = falling[-1].round
    # The checks that came out ROBUST since the onset are what a person must look at again.
    robust = [identity for tally in reversed(rounds) if tally.round >= onset for identity in tally.robust]
    return SlopeAlarm(onset, tuple(reversed(falling)), tuple(robust[:EVIDENCE_MAX]))
