"""LED001, error: the lead of a round is the present role that has led least, ties by role order.

Who leads frames the round; a lead that is chosen freely is how one role comes to dominate. Source: SD-52, SD-53, SD-81.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import RoundOpened
from roles.rotation import next_lead
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Openings whose lead is another than the rotation's."""
    led: list[str | None] = []
    for event in docket.events:
        if not isinstance(event, RoundOpened):
            continue
        if docket.structured and any(role != event.absent for role in docket.authors):
            expected = next_lead(docket.authors, led, event.absent)
            if event.lead != expected:
                yield Breach(
                    event.seq,
                    f"{event.lead or 'nobody'} leads round {event.round}; the rotation says {expected}",
                )
        led.append(event.lead)


RULE: Final = Rule(
    code="LED001",
    name="lead_follows_rotation",
    severity="error",
    summary="The lead of a round is the present role that has led least, ties by role order.",
    check=check,
    applies_to_imports=False,
)
