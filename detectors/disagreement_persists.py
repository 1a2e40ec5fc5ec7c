"""S2: disagreement persists: the slope of BROKEN and UNCLEAR verdicts a round does not fall too fast (SD-63)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from detectors.observations import Observations, Tally
from detectors.parameters import ScriptParameters, TextParameters
from detectors.report import Signal, counted, reading, short
from detectors.slopes import exact_slope, float_slope

FADES: Final = "Disagreement fades with discovery"


def text(seen: Observations, parameters: TextParameters) -> Signal:
    """Whether the slope without stress holds, over all rounds and at the end, or discovery fell (SD-63 [T], SD-91).

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


def script(seen: Observations, parameters: ScriptParameters) -> Signal:
    """Whether the regression over the rounds that have disagreement does not fall too fast (SD-63 [C]).

    Only rounds with such a verdict enter, so a total collapse of disagreement goes unnoticed (SD-64); stress
    rounds enter like any other.
    """
    rule = parameters.disagreement_persists
    limit = float(rule.slope_at_least)
    rounds = [tally for tally in seen.rows.values() if tally.disagreeing]
    if len(rounds) < rule.rounds_at_least:
        return _too_few(rounds, "with disagreement", rule.rounds_at_least)
    slope = float_slope([(tally.round, tally.disagreement) for tally in rounds])
    return reading(
        "S2",
        slope >= limit,
        f"disagreement changes by {short(slope)} a round over the {len(rounds)} rounds that have any; "
        f"healthy from {short(limit)}",
        slope,
        limit,
        _disagreeing(rounds),
    )


def _too_few(rounds: Sequence[Tally], which: str, needed: int) -> Signal:
    return reading("S2", False, f"{counted(len(rounds), 'round')} {which}; a slope needs {needed}")


def _disagreeing(rounds: Sequence[Tally]) -> list[str]:
    return [identity for tally in reversed(rounds) for identity in tally.disagreeing]
