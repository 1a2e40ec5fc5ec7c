"""POS002, error: a role flips its own sealed position, from the stance it last held to another.

A flip from a stance that was never taken would make steadfastness look like conformity, or the reverse.
Source: DETECTORS FM-1, FORMAT 2 (`flip`), FORMAT 5 (F).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Flip, Position
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule
from validators.reading.stances import last_stances


def check(docket: Docket) -> Iterator[Breach]:
    """Flips of what is not one's own, not there, or not what it is said to be."""
    for event in docket.events:
        if not isinstance(event, Flip):
            continue
        position = docket.earlier(event.of, event.seq)
        if not isinstance(position, Position):
            yield Breach(event.seq, f"{event.id} flips {event.of}, which is no earlier position")
            continue
        if position.by != event.by:
            yield Breach(event.seq, f"{event.by} flips {event.of}, which {position.by} sealed")
            continue
        held = last_stances(position.on, event.seq, docket).get(event.by)
        if held is not None and held.stance != event.from_:
            yield Breach(
                event.seq, f"{event.id} flips from {event.from_}; {event.by} held {held.stance} ({held.ref})"
            )
        if event.from_ == event.to:
            yield Breach(event.seq, f"{event.id} flips from {event.from_} to itself")


RULE: Final = Rule(
    code="POS002",
    name="flip_is_of_own_position",
    severity="error",
    summary="A role flips its own sealed position, from the stance it last held to another.",
    check=check,
    applies_to_imports=False,
)
