"""S2 of the script: the slope of BROKEN and UNCLEAR verdicts is at least −0.2 (SD-63 [C]).

Only rounds with such a verdict enter, so a total collapse of disagreement goes unnoticed (SD-64); stress
rounds enter like any other.
"""

from __future__ import annotations

from detectors.observations import Observations
from detectors.parameters import ScriptParameters
from detectors.readings import counted, reading, short
from detectors.report import Signal
from detectors.slopes import float_slope


def read(seen: Observations, parameters: ScriptParameters) -> Signal:
    """Whether the regression over the rounds that have disagreement does not fall too fast."""
    rule = parameters.disagreement_persists
    rounds = [tally for tally in seen.rows.values() if tally.disagreeing]
    if len(rounds) < rule.rounds_at_least:
        return reading(
            "S2",
            False,
            f"{counted(len(rounds), 'round')} with disagreement; a slope needs {rule.rounds_at_least}",
        )
    slope = float_slope([(tally.round, tally.disagreement) for tally in rounds])
    limit = float(rule.slope_at_least)
    evidence = [identity for tally in reversed(rounds) for identity in tally.disagreeing]
    return reading(
        "S2",
        slope >= limit,
        f"disagreement changes by {short(slope)} a round over the {len(rounds)} rounds that have any; "
        f"healthy from {short(limit)}",
        slope,
        limit,
        evidence,
    )
