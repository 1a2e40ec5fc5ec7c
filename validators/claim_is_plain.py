"""STY001, warning: a claim commits itself; it does not hedge.

What "might perhaps" be the case cannot be refuted. Source: SD-42, AD-4, AD-14.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Claim
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule
from validators.reading.words import hedges


def check(docket: Docket) -> Iterator[Breach]:
    """Claims with hedging words."""
    for event in docket.events:
        if isinstance(event, Claim):
            found = dict.fromkeys(hedges(event.text))
            if found:
                yield Breach(event.seq, f"{event.id} hedges: {', '.join(found)}")


RULE: Final = Rule(
    code="STY001",
    name="claim_is_plain",
    severity="warning",
    summary="A claim commits itself; it does not hedge.",
    check=check,
)
