"""IDS001, error: an id belongs to one event.

Of two claims with the same id only one would be tested, and nobody could say which. Closes the hole that duplicates
were never looked for. Source: FORMAT 3, SD-50.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Second events with an id, and ids given twice in the opening."""
    for event in docket.events:
        first = docket.book.by_id.get(event.id) if event.id else None
        if first is not None and first is not event:
            yield Breach(event.seq, f"{event.id} is already the id of event {first.seq}")
    opened = docket.opened
    if opened is not None:
        ids = [entry.id for entry in (*opened.goals, *opened.options)]
        for identity, count in Counter([*ids, *(entry.id for entry in opened.context)]).items():
            if count > 1:
                yield Breach(opened.seq, f"{identity} is defined {count} times")


RULE: Final = Rule(
    code="IDS001",
    name="id_is_unique",
    severity="error",
    summary="An id belongs to one event, one goal, one option or one document.",
    check=check,
)
