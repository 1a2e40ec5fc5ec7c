"""LAW001, error: an event keeps the laws of its kind that its field types cannot say.

Counts, non-empty text, the form of ids, the shape of an artifact's body, and which fields go together. The decoder
refuses such a line; this rule holds for events that were never lines. Source: FORMAT 1, FORMAT 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.laws import broken_law
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """The first broken law of each event."""
    for event in docket.events:
        problem = broken_law(event)
        if problem is not None:
            yield Breach(event.seq, f"{event.kind}: {problem}")


RULE: Final = Rule(
    code="LAW001",
    name="event_keeps_its_laws",
    severity="error",
    summary="An event keeps the laws of its kind: counts, non-empty text, ids, the shape of an artifact.",
    check=check,
)
