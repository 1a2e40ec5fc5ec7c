"""S3: every role has led a round without stress (SD-66). S4: all roles but one were absent for a round (SD-67)."""

from __future__ import annotations

from collections import Counter
from math import fsum, log2

from detectors.observations import Observations
from detectors.parameters import PublishedParameters
from detectors.report import Signal, listed, reading, short


def every_role_led(seen: Observations, parameters: PublishedParameters) -> Signal:
    """Report whether every role led and the entropy of the leads, in bits, reaches its share of log2 N (SD-66 [T])."""
    # A lead in a stress round is left out, because the absent role could not have been chosen.
    rounds = [event for event in seen.settled if event.absent is None and event.lead in seen.roles]
    leads = Counter(event.lead for event in rounds if event.lead is not None)
    limit = float(parameters.every_role_led.entropy_share) * log2(len(seen.roles))
    spread = entropy(leads)
    missing = [role for role in seen.roles if role not in leads]
    # Reversed, so that the earliest round of each lead is kept as evidence.
    first = {event.lead: event.seq for event in reversed(rounds)}
    return reading(
        "S3",
        not missing and spread >= limit,
        f"never led a round without stress: {listed(missing)}"
        if missing
        else f"leads have {short(spread)} bits of {short(limit)}",
        spread,
        limit,
        [f"@{seq}" for seq in sorted(first.values())],
    )


def entropy(counts: Counter[str]) -> float:
    """Return Shannon entropy in bits; 0 without counts. Summed exactly, so the order of roles does not matter."""
    total = counts.total()
    # The sum is exact, because the order of the roles must not decide whether the limit is reached.
    return fsum(count / total * log2(total / count) for count in counts.values())


def roles_were_stressed(seen: Observations, parameters: PublishedParameters) -> Signal:
    """Report whether N − 1 roles (at least one) were really absent, or the one whose absence says most (SD-67 [T])."""
    rule = parameters.roles_were_stressed
    first: dict[str, int] = {}
    for event in seen.settled:
        if event.absent is not None and event.absent in seen.roles:
            first.setdefault(event.absent, event.seq)
    # A run with one role still needs one absence to satisfy the signal.
    needed = max(1, len(seen.roles) - rule.roles_spared)
    return reading(
        "S4",
        len(first) >= needed or rule.or_role in first,
        f"{len(first)} roles were absent for a round, {needed} needed or the {rule.or_role}: {listed(tuple(first))}",
        len(first),
        needed,
        [f"@{seq}" for seq in first.values()],
    )
