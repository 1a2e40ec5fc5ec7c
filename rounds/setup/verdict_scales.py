"""The scales on which a judge can give a verdict; a run chooses one (AD-31, AD-32)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SCALES: Final[Mapping[str, tuple[str, ...]]] = {
    "approve_reject": ("approve", "approve with conditions", "reject"),
    "green_amber_red": ("GREEN", "AMBER", "RED"),
    "ready_fixes_rethink": ("ready", "targeted fixes", "rethink"),
}
"""Name of a scale → its verdicts, the best first."""
