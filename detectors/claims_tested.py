"""S1: claim testing slows down, below a share of its peak (SD-61). S6: few claims are left untested (SD-70)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import chain
from typing import TypeVar

from detectors.observations import Observations, untested
from detectors.parameters import ClaimTestingSlows, FewClaimsPending, ScriptParameters, TextParameters
from detectors.report import Signal, reading, short
from ledger.plain_text import counted

Number = TypeVar("Number", float, Fraction)


def slows_text(seen: Observations, parameters: TextParameters) -> Signal:
    """Fewer claims leave pending than in the peak (SD-61 [T]).

    A re-test is no transition: a claim leaves pending once. Rounds are all deliberation rounds, silent ones too.
    """
    tested = [tally.tested for tally in seen.rounds]
    return _slows(
        parameters.claim_testing_slows,
        [len(identities) for identities in tested],
        dict.fromkeys(chain.from_iterable(reversed(tested))),
        Fraction,
        what="claims tested for the first time",
    )


def slows_script(seen: Observations, parameters: ScriptParameters) -> Signal:
    """Fewer status changes are stated than in the peak (SD-61 [C]).

    Its rounds are those that have a verification, closed up over gaps, and re-tests count as changes.
    """
    rounds = tuple(seen.rows.values())
    return _slows(
        parameters.claim_testing_slows,
        [tally.changes for tally in rounds],
        [identity for tally in reversed(rounds) for identity in tally.changing],
        float,
        what="status changes",
        which=" with verifications",
    )


def _slows(
    rule: ClaimTestingSlows,
    counts: Sequence[int],
    evidence: Iterable[str],
    number: Callable[[int | str], Number],
    *,
    what: str,
    which: str = "",
) -> Signal:
    """Whether each of the last windows is below its share of the greatest one, in exact or floating arithmetic."""
    if len(counts) < rule.rounds_at_least:
        found = counted(len(counts), "round")
        return reading("S1", False, f"{found}{which}; a trend needs {rule.rounds_at_least}")
    width = rule.window_rounds
    means = [number(sum(counts[start : start + width])) / width for start in range(len(counts) - width + 1)]
    limit = max(means) * number(rule.share_of_peak)
    recent = means[-rule.windows_below :]
    return reading(
        "S1",
        limit > 0 and max(recent) < limit,
        f"last means of {width} rounds: {', '.join(map(short, recent))} {what}; half of the peak is {short(limit)}",
        max(recent),
        limit,
        evidence,
    )


def pending_text(seen: Observations, parameters: TextParameters) -> Signal:
    """Few claims were never tested (SD-70).

    The closing synthesis settles what is pending and tests nothing (SD-19): what it settled stays untested.
    """
    pending = untested(seen.state)
    return _few(seen, parameters.few_claims_pending, pending, Fraction, what="claims were tested in no round")


def pending_script(seen: Observations, parameters: ScriptParameters) -> Signal:
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
