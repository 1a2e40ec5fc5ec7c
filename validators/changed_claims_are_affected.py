"""LIF004, error, published rule 3: a claim that was tested is among the affected claims of what tested it.

Otherwise a status would have changed without anybody saying that it was tested. The published rule asked for any
verification; this one asks for the one that moved it. Source: SD-37, SD-49 (3).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Verification
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Changed claims that are not listed as affected."""
    for event in docket.events:
        if isinstance(event, Verification):
            changed = dict.fromkeys(change.claim_id for change in event.claim_status_changes)
            for identity in changed:
                if identity not in event.claims_affected:
                    yield Breach(event.seq, f"{event.id} moves {identity} and does not list it as affected")


RULE: Final = Rule(
    code="LIF004",
    name="changed_claims_are_affected",
    severity="error",
    summary="A claim that was tested is among the affected claims of what tested it.",
    check=check,
    published=3,
)
