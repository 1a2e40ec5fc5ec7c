"""S1 of the text: fewer claims leave pending than in the peak (SD-61 [T]).

A re-test is no transition: a claim leaves pending once. Rounds are all deliberation rounds, silent ones too.
"""

from __future__ import annotations

from fractions import Fraction

from detectors.observations import Observations
from detectors.parameters import TextParameters
from detectors.readings import counted, reading, short
from detectors.report import Signal


def read(seen: Observations, parameters: TextParameters) -> Signal:
    """Whether each of the last windows is below its share of the greatest one."""
    rule = parameters.claim_testing_slows
    tested = [len(tally.tested) for tally in seen.rounds]
    if len(tested) < rule.rounds_at_least:
        return reading("S1", False, f"{counted(len(tested), 'round')}; a trend needs {rule.rounds_at_least}")
    width = rule.window_rounds
    means = [Fraction(sum(tested[start : start + width]), width) for start in range(len(tested) - width + 1)]
    limit = max(means) * Fraction(rule.share_of_peak)
    recent = means[-rule.windows_below :]
    evidence = dict.fromkeys(identity for tally in reversed(seen.rounds) for identity in tally.tested)
    return reading(
        "S1",
        limit > 0 and max(recent) < limit,
        f"last means of {width} rounds: {', '.join(map(short, recent))} claims tested for the first time; "
        f"half of the peak is {short(limit)}",
        max(recent),
        limit,
        evidence,
    )
