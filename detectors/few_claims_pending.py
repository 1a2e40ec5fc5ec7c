"""S6: less than 30 % of the claims are left untested (SD-70)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from detectors.observations import Observations, untested
from detectors.parameters import FewClaimsPending, ScriptParameters, TextParameters
from detectors.report import Signal, reading, short

Number = TypeVar("Number", float, Fraction)


def text(seen: Observations, parameters: TextParameters) -> Signal:
    """Few claims were never tested (SD-70).

    The closing synthesis settles what is pending and tests nothing (SD-19): what it settled stays untested.
    """
    pending = untested(seen.state)
    return _few(seen, parameters.few_claims_pending, pending, Fraction, what="claims were never tested")


def script(seen: Observations, parameters: ScriptParameters) -> Signal:
    """Few claims have the status pending, statuses folded first (SD-70, SD-71)."""
    pending = [identity for identity, claim in seen.state.claims.items() if claim.status == "pending"]
    return _few(seen, parameters.few_claims_pending, pending, float, what="claims have the status pending")


def _few(
    seen: Observations,
    rule: FewClaimsPending,
    pending: Sequence[str],
    number: Callable[[int | str], Number],
    *,
    what: str,
) -> Signal:
    """Whether the share is below its limit, in exact or floating arithmetic; without claims it is not."""
    limit = number(rule.share_below)
    claims = len(seen.state.claims)
    if not claims:
        return reading("S6", False, "no claims", None, limit)
    share = number(len(pending)) / claims
    return reading(
        "S6",
        share < limit,
        f"{len(pending)} of {claims} {what}; below {short(limit * 100)} % is few",
        share,
        limit,
        pending,
    )
