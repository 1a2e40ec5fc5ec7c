"""CLM002, warning: what would test a claim is more than the claim said again.

A test that restates its claim is fulfilled by believing it. Source: SD-42, SD-82.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Claim
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Claims whose test is their own text."""
    for event in docket.events:
        if isinstance(event, Claim) and event.text.strip() and _bare(event.text) == _bare(event.testable_as):
            yield Breach(event.seq, f"{event.id} is to be tested by itself: testable_as repeats its text")


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!")


RULE: Final = Rule(
    code="CLM002",
    name="test_is_not_the_claim",
    severity="warning",
    summary="What would test a claim is more than the claim said again.",
    check=check,
)
