"""CLM001, error, published rule 6: a claim says which observable outcome would test it.

What nothing could show to be wrong cannot be decided upon. Source: SD-42, SD-49 (6).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Claim
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Claims whose `testable_as` is empty or blank."""
    for event in docket.events:
        if isinstance(event, Claim) and not event.testable_as.strip():
            yield Breach(event.seq, f"{event.id} says nothing that would test it")


RULE: Final = Rule(
    code="CLM001",
    name="claim_is_testable",
    severity="error",
    summary="A claim says which observable outcome would test it.",
    check=check,
    published=6,
)
