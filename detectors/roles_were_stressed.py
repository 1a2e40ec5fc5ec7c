"""S4: all roles but one were absent for a round (SD-67)."""

from __future__ import annotations

from collections.abc import Iterable

from detectors.observations import Observations
from detectors.parameters import RolesWereStressed, ScriptParameters, TextParameters
from detectors.report import Signal, listed, reading


def text(seen: Observations, parameters: TextParameters) -> Signal:
    """Whether N − 1 roles (at least one) were really absent, or the one whose absence says most (SD-67 [T])."""
    rule = parameters.roles_were_stressed
    absences = ((event.absent, event.seq) for event in seen.settled if event.absent in seen.roles)
    return _stressed(seen, rule, absences, or_role=rule.or_role)


def script(seen: Observations, parameters: ScriptParameters) -> Signal:
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
