"""S2 of the text: disagreement does not fade, or fades together with discovery (SD-63 [T], SD-91).

The second way to hold is the source's own: a slope below zero beside fewer new tensions and BROKEN verdicts is called
legitimate convergence. Nothing persists there, so the reading does not carry that name.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from detectors.observations import Observations
from detectors.parameters import TextParameters
from detectors.readings import counted, reading, short
from detectors.report import Signal
from detectors.slopes import exact_slope

FADES: Final = "Disagreement fades with discovery"


def read(seen: Observations, parameters: TextParameters) -> Signal:
    """Whether the slope over the rounds without stress holds, whole and at the end, or discovery fell."""
    rule = parameters.disagreement_persists
    limit = Fraction(rule.slope_at_least)
    rounds = seen.calm
    if len(rounds) < rule.rounds_at_least:
        found = counted(len(rounds), "round")
        return reading("S2", False, f"{found} without stress; a slope needs {rule.rounds_at_least}")
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
        satisfied, reason = (
            False,
            f"it falls, and new tensions and BROKEN verdicts do not: {short(discovery)}",
        )
    evidence = [identity for tally in reversed(rounds) for identity in tally.disagreeing]
    return reading(
        "S2",
        satisfied,
        f"disagreement changes by {short(slope)} a round over {len(rounds)} rounds without stress; {reason}",
        slope,
        limit,
        evidence,
        name=FADES if satisfied and slope < limit else None,
    )
