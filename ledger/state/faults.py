"""Faults that validations of a run reported, and those that a person let go."""

from __future__ import annotations

import msgspec

FindingKey = tuple[str, int | None, str]
"""An error by its rule and event; one without an event by its words."""


class Faults(msgspec.Struct):
    """Errors of the last validation, and those known to be harmless."""

    new: frozenset[FindingKey] = frozenset()
    """Errors that the last validation found and that no person let go before."""
    let_go: frozenset[FindingKey] = frozenset()
    """Errors that a person called harmless: they hold the run up no second time."""
    imported_before: int = 0
    """Events below this seq were written by another system, in a run that goes on with an import."""
