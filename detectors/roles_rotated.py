"""S3: every role has led a round without stress (SD-66). S4: all roles but one were absent for a round (SD-67)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import fsum, log2

from detectors.observations import Observations
from detectors.parameters import RolesWereStressed, ScriptParameters, TextParameters
from detectors.report import Signal, listed, reading, short


def led_text(seen: Observations, parameters: TextParameters) -> Signal:
    """Whether no role is missing and the entropy of the leads, in bits, reaches its share of log2 N (SD-66 [T])."""
    rounds = [event for event in seen.settled if event.absent is None and event.lead in seen.roles]
    leads = Counter(event.lead for event in rounds if event.lead is not None)
    limit = float(parameters.every_role_led.entropy_share) * log2(len(seen.roles))
    spread = entropy(leads)
    missing = [role for role in seen.roles if role not in leads]
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


def led_script(seen: Observations, parameters: ScriptParameters) -> Signal:
    """Whether as many names led as there are roles; that they are names of roles is not asked (SD-66 [C])."""
    nobody = parameters.every_role_led.not_a_lead
    first: dict[str, int] = {}
    for event in seen.state.rounds_opened:
        if event.absent is None and event.lead is not None and event.lead not in nobody:
            first.setdefault(event.lead, event.seq)
    needed = len(seen.roles)
    return reading(
        "S3",
        len(first) >= needed,
        f"{len(first)} of {needed} have led a round without stress: {listed(tuple(first))}",
        len(first),
        needed,
        [f"@{seq}" for seq in first.values()],
    )


def entropy(counts: Counter[str]) -> float:
    """Shannon entropy in bits; 0 of nothing. Summed exactly: the order of the roles does not matter."""
    total = counts.total()
    return fsum(count / total * log2(total / count) for count in counts.values())


def stressed_text(seen: Observations, parameters: TextParameters) -> Signal:
    """Whether N − 1 roles (at least one) were really absent, or the one whose absence says most (SD-67 [T])."""
    rule = parameters.roles_were_stressed
    absences = ((event.absent, event.seq) for event in seen.settled if event.absent in seen.roles)
    return _stressed(seen, rule, absences, or_role=rule.or_role)


def stressed_script(seen: Observations, parameters: ScriptParameters) -> Signal:
    """Whether N − 1 names (at least one) were absent; that a round was opened so is enough (SD-67 [C])."""
    absences = ((event.absent, event.seq) for event in seen.state.rounds_opened)
    return _stressed(seen, parameters.roles_were_stressed, absences)


def _stressed(
    seen: Observations,
    rule: RolesWereStressed,
    absences: Iterable[tuple[str | None, int]],
    *,
    or_role: str | None = None,
) -> Signal:
    first: dict[str, int] = {}
    for role, seq in absences:
        if role is not None:
            first.setdefault(role, seq)
    needed = max(1, len(seen.roles) - rule.roles_spared)
    otherwise = "" if or_role is None else f" or the {or_role}"
    return reading(
        "S4",
        len(first) >= needed or or_role in first,
        f"{len(first)} roles were absent for a round, {needed} needed{otherwise}: {listed(tuple(first))}",
        len(first),
        needed,
        [f"@{seq}" for seq in first.values()],
    )
