"""How large a plan is: the replies that it asks for, before anything is run."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.events.decisions import PlanRow
from rounds.plans import STRUCTURED_ROLES
from rounds.schedule import NEEDS


def replies_at_most(plan: Sequence[PlanRow], *, positions: bool = True) -> int:
    """Replies of all rounds and of S, when nothing stops the run early and a claim is left to be resolved."""
    return sum(_round(row, positions) for row in plan) + _synthesis()


def _round(row: PlanRow, positions: bool) -> int:
    if "B" not in row.phases:
        return 0
    active = len(STRUCTURED_ROLES) - (row.absent is not None)
    checks = sum(row.absent not in roles for roles in NEEDS.values()) - (row.round == 1)
    sealed = active if positions and checks else 0
    lead_and_others = 1 + (active - 1)
    return lead_and_others + active + sealed + checks + active + 1 + row.drift


def _synthesis() -> int:
    return 1 + len(STRUCTURED_ROLES) + 1
