"""S3 of the text: every role has led a round without stress, and the leads are spread (SD-66 [T])."""

from __future__ import annotations

from collections import Counter
from math import fsum, log2

from detectors.observations import Observations
from detectors.parameters import TextParameters
from detectors.readings import listed, reading, short
from detectors.report import Signal


def read(seen: Observations, parameters: TextParameters) -> Signal:
    """Whether the entropy of the leads, in bits, reaches its share of log2 N and no role is missing."""
    rounds = [event for event in seen.settled if event.absent is None and event.lead in seen.roles]
    leads = Counter(event.lead for event in rounds if event.lead is not None)
    limit = float(parameters.every_role_led.entropy_share) * log2(len(seen.roles))
    spread = entropy(leads)
    missing = [role for role in seen.roles if role not in leads]
    first = {event.lead: event.seq for event in reversed(rounds)}
    return reading(
        "S3",
        not missing and spread >= limit,
        f"never led: {listed(missing)}" if missing else f"leads have {short(spread)} bits of {short(limit)}",
        spread,
        limit,
        [f"@{seq}" for seq in sorted(first.values())],
    )


def entropy(counts: Counter[str]) -> float:
    """Shannon entropy in bits; 0 of nothing. Summed exactly: the order of the roles does not matter."""
    total = counts.total()
    return fsum(count / total * log2(total / count) for count in counts.values())
