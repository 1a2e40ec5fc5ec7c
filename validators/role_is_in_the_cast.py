"""AUT002, error: every role that an event names has a seat in this run.

A misspelt role counts as one more voice: it would satisfy a signal that asks how many have led or were absent.
Source: FORMAT 2 (`Role`), SD-1, SD-50, SD-66.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Artifact, Claim, Decision, Event, Fallback, RoundOpened, RunOpened
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

_OTHERS: Final = frozenset({"controller", "human", "import"})


def check(docket: Docket) -> Iterator[Breach]:
    """Names of roles that are not in the cast."""
    cast = frozenset(docket.roles)
    if not cast:
        return
    for event in docket.events:
        for field, role in _named(event):
            if role is not None and role not in cast:
                yield Breach(event.seq, f"{field} names {role!r}, who is not in the cast")


def _named(event: Event) -> Iterator[tuple[str, str | None]]:
    if event.by not in _OTHERS:
        yield "by", event.by
    match event:
        case RunOpened():
            yield from (("plan", row.absent) for row in event.plan)
            yield from (("predict", entry.role) for entry in event.predict)
        case RoundOpened():
            yield from (
                ("lead", event.lead),
                ("absent", event.absent),
                ("planned_stress", event.planned_stress),
            )
            yield from (("findings", count.role) for count in event.findings or ())
        case Claim():
            yield "raised_by", event.raised_by
            yield from (("sightings", sighting.role) for sighting in event.sightings)
        case Artifact() | Fallback():
            yield "role", event.role
        case Decision():
            yield from (("dissent", dissent.role) for dissent in event.dissent)
        case _:
            pass


RULE: Final = Rule(
    code="AUT002",
    name="role_is_in_the_cast",
    severity="error",
    summary="Every role that an event names has a seat in this run.",
    check=check,
)
