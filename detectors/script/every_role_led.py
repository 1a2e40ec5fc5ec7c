"""S3 of the script: as many names have led a round without stress as there are roles (SD-66 [C])."""

from __future__ import annotations

from detectors.observations import Observations
from detectors.parameters import ScriptParameters
from detectors.readings import listed, reading
from detectors.report import Signal


def read(seen: Observations, parameters: ScriptParameters) -> Signal:
    """Whether N different names led; that they are names of roles is not asked."""
    nobody = parameters.every_role_led.not_a_lead
    first: dict[str, int] = {}
    for event in seen.state.openings:
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
