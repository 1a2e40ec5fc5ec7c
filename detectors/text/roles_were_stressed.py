"""S4 of the text: all roles but one were absent for a round, or the critic was (SD-67 [T])."""

from __future__ import annotations

from detectors.observations import Observations
from detectors.parameters import TextParameters
from detectors.readings import listed, reading
from detectors.report import Signal


def read(seen: Observations, parameters: TextParameters) -> Signal:
    """Whether N − 1 roles (at least one) were really absent, or the one whose absence says most."""
    rule = parameters.roles_were_stressed
    first: dict[str, int] = {}
    for event in seen.settled:
        if event.absent is not None and event.absent in seen.roles:
            first.setdefault(event.absent, event.seq)
    needed = max(1, len(seen.roles) - rule.roles_spared)
    return reading(
        "S4",
        len(first) >= needed or rule.or_role in first,
        f"{len(first)} roles were absent for a round, {needed} needed or the {rule.or_role}: "
        f"{listed(tuple(first))}",
        len(first),
        needed,
        [f"@{seq}" for seq in first.values()],
    )
