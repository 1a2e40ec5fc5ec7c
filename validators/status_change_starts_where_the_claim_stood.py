"""LIF001, error: `from` of a status change is the status that the claim had when the step's group opened.

In an import, and for steps of no group: just before. A wrong `from` would let a verdict claim a move that it did not
make. Source: SD-44, SD-50, FORMAT 2 (`bearing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Verification
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Changes whose `from` is not where the claim stood."""
    for event in docket.events:
        if not isinstance(event, Verification):
            continue
        for change in event.claim_status_changes:
            stood = docket.stood_at_opening(change.claim_id, event)
            if stood is not None and change.from_ != stood:
                yield Breach(
                    event.seq, f"{event.id} moves {change.claim_id} from {change.from_}; it was {stood}"
                )


RULE: Final = Rule(
    code="LIF001",
    name="status_change_starts_where_the_claim_stood",
    severity="error",
    summary="`from` of a status change is the status that the claim had when the step's group opened.",
    check=check,
)
