"""STR001, error: in phases A–H of a stress round nothing of the absent role is made.

A stress round in which the role still speaks tests nothing and would count as a test.
Source: SD-74, SD-84, FORMAT 5 (law 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Artifact, Claim, Event, Fallback, Position
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Events of the absent role between the opening of its stress round and the synthesis."""
    absent: dict[int, str | None] = {}
    for event in docket.events:
        if event.kind == "round_opened":
            absent[event.round] = (
                docket.rounds()[event.round].absent if event.round in docket.rounds() else None
            )
            continue
        role = absent.get(event.round)
        if role is None or event.phase in ("S", "close"):
            continue
        if role in _voices(event):
            yield Breach(
                event.seq,
                f"{role} is absent from round {event.round} and gives a {event.kind} {event.id or ''}",
            )


def _voices(event: Event) -> tuple[str, ...]:
    match event:
        case Claim():
            return (event.by, event.raised_by)
        case Artifact() | Fallback():
            return (event.by, event.role)
        case Position() if event.id is not None:
            return (event.by, event.id.split("-")[-1])
        case _:
            return (event.by,)


RULE: Final = Rule(
    code="STR001",
    name="absent_role_is_silent",
    severity="error",
    summary="In phases A–H of a stress round nothing of the absent role is made.",
    check=check,
)
