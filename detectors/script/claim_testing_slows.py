"""S1 of the script: fewer status changes are stated than in the peak (SD-61 [C]).

Its rounds are those that have a verification, closed up over gaps, and re-tests count as changes.
"""

from __future__ import annotations

from detectors.observations import Observations
from detectors.parameters import ScriptParameters
from detectors.readings import counted, reading, short
from detectors.report import Signal


def read(seen: Observations, parameters: ScriptParameters) -> Signal:
    """Whether each of the last windows is below its share of the greatest one."""
    rule = parameters.claim_testing_slows
    rounds = tuple(seen.rows.values())
    if len(rounds) < rule.rounds_at_least:
        return reading(
            "S1",
            False,
            f"{counted(len(rounds), 'round')} with verifications; a trend needs {rule.rounds_at_least}",
        )
    width = rule.window_rounds
    changes = [tally.changes for tally in rounds]
    means = [sum(changes[start : start + width]) / width for start in range(len(changes) - width + 1)]
    limit = max(means) * float(rule.share_of_peak)
    recent = means[-rule.windows_below :]
    evidence = [identity for tally in reversed(rounds) for identity in tally.changing]
    return reading(
        "S1",
        limit > 0 and all(mean < limit for mean in recent),
        f"last means of {width} rounds: {', '.join(map(short, recent))} status changes; "
        f"half of the peak is {short(limit)}",
        max(recent),
        limit,
        evidence,
    )
