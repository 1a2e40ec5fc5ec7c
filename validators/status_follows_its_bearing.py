"""LIF003, error: the status that a test leads to follows from its bearing, and the bearing agrees with its result.

A BROKEN check can confirm a claim ("X has a flaw"), so the result alone says nothing; but an UNCLEAR one decides
nothing, and an inapplicable one moves nothing. Source: SD-44, SD-45, FORMAT 2 (`bearing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Verification
from ledger.lifecycle import STATUS_OF_BEARING
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Changes whose `to` is not the bearing's, or whose bearing is not one that the result allows."""
    for event in docket.events:
        if not isinstance(event, Verification):
            continue
        if event.result == "NOT_APPLICABLE" and event.claim_status_changes:
            yield Breach(event.seq, f"{event.id} is NOT_APPLICABLE and moves claims")
            continue
        for change in event.claim_status_changes:
            due = STATUS_OF_BEARING[change.bearing]
            if change.to != due and change.to != "superseded":
                yield Breach(
                    event.seq,
                    f"{event.id}: {change.bearing} leads {change.claim_id} to {due}, not {change.to}",
                )
            if (change.bearing == "inconclusive") != (event.result == "UNCLEAR"):
                yield Breach(
                    event.seq,
                    f"{event.id} is {event.result}, which is never {change.bearing} ({change.claim_id})",
                )


RULE: Final = Rule(
    code="LIF003",
    name="status_follows_its_bearing",
    severity="error",
    summary="A status follows from its test's bearing, and the bearing agrees with the result.",
    check=check,
)
