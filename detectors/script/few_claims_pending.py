"""S6 of the script: less than 30 % of the claims are pending, statuses folded first (SD-70, SD-71)."""

from __future__ import annotations

from detectors.observations import Observations
from detectors.parameters import ScriptParameters
from detectors.readings import reading, short
from detectors.report import Signal


def read(seen: Observations, parameters: ScriptParameters) -> Signal:
    """Whether the pending share is below its limit; without claims it is not."""
    limit = float(parameters.few_claims_pending.share_below)
    claims = seen.state.claims
    if not claims:
        return reading("S6", False, "no claims", None, limit)
    pending = [identity for identity, claim in claims.items() if claim.status == "pending"]
    share = len(pending) / len(claims)
    return reading(
        "S6",
        share < limit,
        f"{len(pending)} of {len(claims)} claims have the status pending; below {short(limit * 100)} % is few",
        share,
        limit,
        pending,
    )
