"""Budgets: the limits in force, and which one is used up (DESIGN 5)."""

from __future__ import annotations

from decimal import Decimal

from ledger.events.decisions import Budgets, CloseReason
from ledger.state.state import State


def budgets_in_force(state: State) -> Budgets:
    """The opening's limits with every later `budget` amendment applied."""
    limits = {name: getattr(state.opening.budgets, name) for name in Budgets.__struct_fields__}
    for amendment in state.amendments:
        if amendment.what == "budget":
            for change in amendment.change:
                limits[change.path.removeprefix("budgets.")] = change.to
    return Budgets(**limits)


def used_up(state: State, minutes: float) -> CloseReason | None:
    """The first budget that the next call could exceed, None when there is room. `minutes` is what this driver ran."""
    limits, spend = budgets_in_force(state), state.spend
    if limits.calls is not None and spend.engine_calls >= limits.calls:
        return "budget_calls"
    if limits.tokens is not None and spend.tokens_in + spend.tokens_out >= limits.tokens:
        return "budget_tokens"
    if limits.usd is not None and spend.micro_usd >= int(Decimal(limits.usd) * 1_000_000):
        return "budget_usd"
    if limits.minutes is not None and minutes >= limits.minutes:
        return "budget_minutes"
    return None
