"""Objections: what a role holds against where the run is heading, said in a review or a retrospective."""

from __future__ import annotations

from typing import Final

from ledger.events import Statement

AGAINST: Final = "against"
"""The section of a review or a retrospective that says what its role is against."""


def objection_in(event: Statement) -> str | None:
    """The words of a review or a retrospective against where the run is heading."""
    return next((section.text for section in event.sections if section.name == AGAINST), None)
