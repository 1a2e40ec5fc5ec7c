"""Conditions of a decision, in two opposite senses.

`falsifiers` would prove the decision wrong; `requirements` must be met before it may be followed. Every view reads
them
here and labels each one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from ledger.events import Decision

WORDS: Final[Mapping[Literal["falsifiers", "requirements"], str]] = {
    "falsifiers": "would show it wrong",
    "requirements": "required",
}
"""Words that introduce a condition."""


class Conditions(NamedTuple):
    """Texts of a decision's falsifiers and requirements."""

    falsifiers: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()

    def told(self) -> tuple[tuple[str, str], ...]:
        """Return each condition with the words that introduce it."""
        return (
            *((WORDS["falsifiers"], text) for text in self.falsifiers),
            *((WORDS["requirements"], text) for text in self.requirements),
        )


def conditions_of(event: Decision) -> Conditions:
    """Return the conditions of a decision."""
    return Conditions(event.falsifiers, tuple(requirement.text for requirement in event.requirements))
