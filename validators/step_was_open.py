"""ORD004, error: a reply or a fallback answers a step that was open.

A step opens when its predecessors are complete. An answer from before would have been written without what the table
says it rests on, a position after its verdict among them. Source: FORMAT 4, SD-18, SD-27.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Fallback
from validators.reading.docket import Docket, is_reply
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Answers to steps that had not opened; nothing is judged after rounds have left the plan."""
    if docket.context.protocol is None:
        return
    if docket.lost_at is not None:
        yield Breach(docket.lost_at, "from here on the protocol cannot say which steps are open")
    for event in docket.events:
        answered = (
            event.step_failed if isinstance(event, Fallback) else event.step if is_reply(event) else None
        )
        if answered is None or event.seq > docket.known_through:
            continue
        opening = docket.openings.get(answered)
        if opening is None or opening >= event.seq:
            yield Breach(event.seq, f"{answered} is answered, but it was not open")


RULE: Final = Rule(
    code="ORD004",
    name="step_was_open",
    severity="error",
    summary="A reply or a fallback answers a step that was open: phases and groups keep their order.",
    check=check,
    applies_to_imports=False,
)
