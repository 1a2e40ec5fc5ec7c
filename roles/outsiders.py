"""What somebody outside a run cannot read in a claim: ids of the run, which belong into its fields, not its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from ledger.events import Artifact, Claim, Event

_LIKE_AN_ID: Final = re.compile(r"\b[A-Z]-[0-9]+(?:-[A-Za-z0-9_]+)*(?:~[0-9]+)?")


def ids_in(text: str, known: Callable[[str], bool]) -> tuple[str, ...]:
    """The ids of the run that a text names, each once; what only looks like one is none."""
    return tuple(found for found in dict.fromkeys(_LIKE_AN_ID.findall(text)) if known(found))


def claims_with_ids(event: Event, known: Callable[[str], bool]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Claims that an event raises or proposes whose words name ids: what the claim is called here, and the ids."""
    match event:
        case Claim():
            said = [(str(event.id), f"{event.text} {event.testable_as}")]
        case Artifact():
            said = [
                (f"claim {n} of {event.id}", f"{draft.text} {draft.testable_as}")
                for n, draft in enumerate(event.proposed_claims, 1)
            ]
        case _:
            said = []
    for name, text in said:
        if found := ids_in(text, known):
            yield name, found
