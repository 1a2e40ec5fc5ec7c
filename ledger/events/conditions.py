"""Conditions: what a decision hangs on, in two opposite senses.

`falsifiers` are what would show the decision to be wrong; `requirements` are what has to be met before it may be
followed. Format version 1 has one field `conditions` for both, and each protocol asked for one of them in words of its
own. Every view reads them here and calls each what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from ledger.events import Decision, RunOpened

Meaning = Literal["falsifiers", "requirements"]

MEANINGS: Final[Mapping[str, Meaning]] = {
    "crux": "falsifiers",
    "structured": "falsifiers",  # "what would have to change for this to be wrong"
    "comparative": "falsifiers",  # "conditions under which the other one would be right"
    "panel": "requirements",  # the judge's recommendations, "each something to do"
    "adversarial": "requirements",  # its verdict may be "approve with conditions"
    # The others ask for none. An answer is shown wrong by something; what may go ahead has something to meet.
    "debate": "falsifiers",
    "devils-advocate": "falsifiers",
    "cross-examination": "falsifiers",
    "priority": "falsifiers",
    "jugalbandi": "requirements",
    "single-pass": "requirements",
    "council": "requirements",
    "ratchet": "requirements",
    "tribunal": "requirements",
}
"""Protocol → what `conditions` means in its decisions."""
USUAL: Final[Meaning] = "falsifiers"
"""For a protocol that this version does not know: what the field was made for."""

WORDS: Final[Mapping[Meaning, str]] = {
    "falsifiers": "would show it wrong",
    "requirements": "required",
}
"""What stands before one of them."""


class Conditions(NamedTuple):
    """The conditions of a decision as what they are; one of the two is empty."""

    falsifiers: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()

    def told(self) -> tuple[tuple[str, str], ...]:
        """Each with the words that stand before it."""
        return (
            *((WORDS["falsifiers"], text) for text in self.falsifiers),
            *((WORDS["requirements"], text) for text in self.requirements),
        )


def meaning_of(protocol: str) -> Meaning:
    """What `conditions` means in the decisions of a protocol."""
    return MEANINGS.get(protocol, USUAL)


def conditions_of(event: Decision, opened: RunOpened | None) -> Conditions:
    """The conditions of a decision; those of version 1 by the protocol of its run."""
    if event.v > 1:
        return Conditions(event.falsifiers, requirement_texts(event))
    meaning = USUAL if opened is None else meaning_of(opened.protocol)
    return Conditions(**{meaning: undivided(event)})


def undivided(event: Decision) -> tuple[str, ...]:
    """All conditions of a decision, as version 1 lists them."""
    return event.falsifiers + requirement_texts(event)


def requirement_texts(event: Decision) -> tuple[str, ...]:
    """Return what must be met before the decision is followed, without who can meet it."""
    return tuple(one if isinstance(one, str) else one.text for one in event.requirements)
