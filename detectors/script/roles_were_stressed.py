"""S4 of the script: all roles but one were absent for a round (SD-67 [C])."""

from __future__ import annotations

from detectors.observations import Observations
from detectors.parameters import ScriptParameters
from detectors.readings import listed, reading
from detectors.report import Signal


def read(seen: Observations, parameters: ScriptParameters) -> Signal:
    """Whether N − 1 different roles, and at least one, were absent. That a round was opened so is enough."""
    first: dict[str, int] = {}
    for event in seen.state.openings:
        if event.absent is not None:
            first.setdefault(event.absent, event.seq)
    needed = max(1, len(seen.roles) - parameters.roles_were_stressed.roles_spared)
    return reading(
        "S4",
        len(first) >= needed,
        f"{len(first)} roles were absent for a round, {needed} needed: {listed(tuple(first))}",
        len(first),
        needed,
        [f"@{seq}" for seq in first.values()],
    )
