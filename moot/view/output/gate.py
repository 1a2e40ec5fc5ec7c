"""`moot gate --json`: which protocol a question deserves, and why."""

from __future__ import annotations

from moot.view.output.base import Output
from rounds.setup.gate import GateReason, GateResult


class Gated(Output, frozen=True):
    """`points`: the sum of the reasons': 3 for the form and what you insist on, 2 a sign of weight, −3 for one seat."""

    route: str
    points: int
    reasons: list[GateReason]


def gated_of(found: GateResult) -> Gated:
    """The gate's result for machines."""
    return Gated(
        route=found.route, points=sum(reason.points for reason in found.reasons), reasons=found.reasons
    )
