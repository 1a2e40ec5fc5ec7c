"""REF001, error, published rule 1: every claim that a verification tests or moves was raised before.

A verdict on a claim that nobody raised, or raised later, tests nothing. Source: SD-49 (1), SD-50.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Claim, Verification
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Ids among the affected and the changed that are no earlier claim."""
    for event in docket.events:
        if not isinstance(event, Verification):
            continue
        named = (*event.claims_affected, *(change.claim_id for change in event.claim_status_changes))
        for identity in dict.fromkeys(named):
            if not isinstance(docket.earlier(identity, event.seq), Claim):
                yield Breach(event.seq, f"{event.id} names {identity}, which is no claim raised before it")


RULE: Final = Rule(
    code="REF001",
    name="affected_claims_exist",
    severity="error",
    summary="Every claim that a verification tests or moves was raised before.",
    check=check,
    published=1,
)
