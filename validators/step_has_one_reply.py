"""ORD005, error: a step is answered once, and every event of a step leads to the call of its reply.

A second answer would be a choice between answers, and an event without a call would be nobody's.
Source: FORMAT 1 (13, 14), FORMAT 4, FORMAT 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Event, Fallback
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Second answers, events of a step without call or via, and `via` that leads elsewhere."""
    answered: dict[str, Event] = {}
    for event in docket.events:
        if isinstance(event, Fallback):
            yield from _second(event.step_failed, event, answered)
        elif event.call is not None:
            if event.step is None:
                yield Breach(event.seq, "a call without a step")
            else:
                yield from _second(event.step, event, answered)
        elif event.via is not None:
            first = answered.get(event.step or "")
            if first is None or first.seq != event.via or first.call is None:
                yield Breach(
                    event.seq,
                    f"via {event.via} is not the reply of {event.step or 'this event without step'}",
                )
        elif event.step is not None:
            yield Breach(event.seq, f"an event of {event.step} has neither call nor via")


def _second(step: str, event: Event, answered: dict[str, Event]) -> Iterator[Breach]:
    if step in answered:
        yield Breach(event.seq, f"{step} was answered before, by event {answered[step].seq}")
    else:
        answered[step] = event


RULE: Final = Rule(
    code="ORD005",
    name="step_has_one_reply",
    severity="error",
    summary="A step is answered once, and every event of a step leads to the call of its reply.",
    check=check,
    applies_to_imports=False,
)
