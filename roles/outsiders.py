"""Find ids of the run in the text of a claim, where an outside reader cannot understand them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from ledger.events import Artifact, Claim, Event
from ledger.events.ids import MENTION

_LIKE_AN_ID: Final = re.compile(rf"\b{MENTION}(?:~[0-9]+)?")


def ids_in(text: str, known: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the ids of the run that a text names, each once; `known` tells whether an id exists."""
    # Words of the subject such as "A-4 paper" look like ids, so only existing ids count.
    return tuple(match for match in dict.fromkeys(_LIKE_AN_ID.findall(text)) if known(match))


def claims_with_ids(event: Event, known: Callable[[str], bool]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (label, ids) for every claim of an event, raised or proposed, whose text names ids of the run."""
    match event:
        case Claim():
            claims = [(event.id, f"{event.text} {event.testable_as}")]
        case Artifact():
            claims = [
                (f"claim {n} of {event.id}", f"{draft.text} {draft.testable_as}")
                for n, draft in enumerate(event.proposed_claims, 1)
            ]
        case _:
            claims = []
    for name, text in claims:
        if ids := ids_in(text, known):
            yield name, ids
