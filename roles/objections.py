"""Objections of a role to the direction of the run, from a review or a retrospective."""

from __future__ import annotations

from typing import Final

from ledger.events import Statement

AGAINST: Final = "against"
"""Section of a review or a retrospective that holds the objection."""


def objection_in(event: Statement) -> str | None:
    """Return the objection in a review or a retrospective; None when it has none."""
    return next((section.text for section in event.sections if section.name == AGAINST), None)
