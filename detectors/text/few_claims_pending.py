"""S6 of the text: less than 30 % of the claims were never tested (SD-70).

The closing synthesis settles what is pending and tests nothing (SD-19): what it settled stays untested.
"""

from __future__ import annotations

from fractions import Fraction

from detectors.observations import Observations, untested
from detectors.parameters import TextParameters
from detectors.readings import reading, short
from detectors.report import Signal


def read(seen: Observations, parameters: TextParameters) -> Signal:
    """Whether the untested share is below its limit; without claims it is not."""
    limit = Fraction(parameters.few_claims_pending.share_below)
    claims = seen.state.claims
    if not claims:
        return reading("S6", False, "no claims", None, limit)
    pending = untested(seen.state)
    share = Fraction(len(pending), len(claims))
    return reading(
        "S6",
        share < limit,
        f"{len(pending)} of {len(claims)} claims were never tested; below {short(limit * 100)} % is few",
        share,
        limit,
        pending,
    )
