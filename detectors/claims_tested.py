"""S1: claim testing slows down, below a share of its peak (SD-61). S6: few claims are left untested (SD-70)."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain

from detectors.observations import Observations, untested
from detectors.parameters import PublishedParameters
from detectors.report import Signal, reading, short
from ledger.plain_text import counted


def claim_testing_slows(seen: Observations, parameters: PublishedParameters) -> Signal:
    """Report whether fewer claims leave pending than in the peak (SD-61 [T]).

    A re-test is not a transition: a claim leaves pending once. Rounds are all deliberation rounds, silent ones too.
    """
    rule, tested = parameters.claim_testing_slows, [tally.tested for tally in seen.rounds]
    counts = [len(identities) for identities in tested]
    if len(counts) < rule.rounds_at_least:
        return reading("S1", False, f"{counted(len(counts), 'round')}; a trend needs {rule.rounds_at_least}")
    width = rule.window_rounds
    means = [Fraction(sum(counts[start : start + width])) / width for start in range(len(counts) - width + 1)]
    # Fractions, because a mean that equals the limit must not fall below it by a rounding error.
    limit = max(means) * Fraction(rule.share_of_peak)
    recent = means[-rule.windows_below :]
    return reading(
        "S1",
        # Without any test there is no peak, and silence from the start is no slowdown.
        limit > 0 and max(recent) < limit,
        f"last means of {width} rounds: {', '.join(map(short, recent))} claims tested for the first time;"
        f" half of the peak is {short(limit)}",
        max(recent),
        limit,
        dict.fromkeys(chain.from_iterable(reversed(tested))),
    )


def few_claims_untested(seen: Observations, parameters: PublishedParameters) -> Signal:
    """Report whether few claims were never tested (SD-70).

    The closing synthesis settles what is pending and tests nothing (SD-19), so what it settled stays untested.
    """
    limit = Fraction(parameters.few_claims_pending.share_below)
    claims, pending = len(seen.state.claims), untested(seen.state)
    # No claims at all would be a share of nothing, which must not count as "few untested".
    if not claims:
        return reading("S6", False, "no claims", None, limit)
    share = Fraction(len(pending), claims)
    return reading(
        "S6",
        share < limit,
        f"{len(pending)} of {claims} claims were tested in no round; below {short(limit * 100)} % is few",
        share,
        limit,
        pending,
    )
