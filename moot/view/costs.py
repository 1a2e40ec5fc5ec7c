"""What calls cost, in words: one place, so that a cost nobody knows is said to be unknown and never to be nothing."""

from __future__ import annotations

from typing import Protocol

from moot.view.story import Filling


class Costed(Protocol):
    """Calls and what they cost: a sum over a run, a seat, or a role's phase."""

    @property
    def calls(self) -> int: ...
    @property
    def micro_usd(self) -> int: ...
    @property
    def unpriced(self) -> int:
        """Calls whose cost nobody knows; `micro_usd` leaves them out."""
        ...


def dollars(cost: Costed) -> str:
    """`0.42 USD`, `0.42 USD, 3 of unknown cost`, `cost unknown`."""
    if cost.unpriced and cost.unpriced >= cost.calls:
        return "cost unknown"
    known = f"{cost.micro_usd / 1_000_000:.2f} USD"
    return f"{known}, {cost.unpriced} of unknown cost" if cost.unpriced else known


def dollars_cell(cost: Costed) -> str:
    """The same for the cell of a column of dollars: `0.4200`, `0.4200 and 3 unknown`, `unknown`."""
    if cost.unpriced >= cost.calls:
        return "unknown"
    return f"{cost.micro_usd / 1_000_000:.4f}" + (f" and {cost.unpriced} unknown" if cost.unpriced else "")


def contexts_told(filling: Filling, before: str = "") -> str:
    """In how many conversations the replies were given, as far as they named one, and whether each had its own."""
    if not filling.contexts:
        return "not named"
    named = filling.calls - filling.unnamed
    notes = [f"{filling.unnamed} of {filling.calls} replies name none"] if filling.unnamed else []
    if filling.continued:
        notes.append(f"{filling.continued} of them in a continued one")
    elif filling.contexts < named:
        notes.append(f"used by {named} replies")
    elif not filling.unnamed:
        notes.append("each fresh")
    return before + ", ".join([str(filling.contexts), *notes])
