"""LED002, error: the lead of a round is not the role that is absent from it.

A role that leads was not taken away, so the round tests nothing. Source: SD-52, SD-74.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import RoundOpened
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Rounds that the absent role leads."""
    for event in docket.events:
        if isinstance(event, RoundOpened) and event.absent is not None and event.lead == event.absent:
            yield Breach(event.seq, f"{event.absent} leads round {event.round} and is absent from it")


RULE: Final = Rule(
    code="LED002",
    name="lead_is_present",
    severity="error",
    summary="The lead of a round is not the role that is absent from it.",
    check=check,
)
