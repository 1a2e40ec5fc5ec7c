"""S6 of the text: less than 30 % of the claims were never tested (SD-70)."""

from __future__ import annotations

from fractions import Fraction

from detectors.observations import Observations
from detectors.parameters import TextParameters
from detectors.readings import reading, short
from detectors.report import Signal


def read(seen: Observations, parameters: TextParameters) -> Signal:
    """Whether the pending share is below its limit; without claims it is not."""
    limit = Fraction(parameters.few_claims_pending.share_below)
    claims = seen.state.claims
    if not claims:
        return reading("S6", False, "no claims", None, limit)
    pending = [identity for identity, claim in claims.items() if claim.status == "pending"]
    share = Fraction(len(pending), len(claims))
    return reading(
        "S6",
        share < limit,
        f"{len(pending)} of {len(claims)} claims were never tested; below {short(limit * 100)} % is few",
        share,
        limit,
        pending,
    )
