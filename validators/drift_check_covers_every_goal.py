"""DRF001, error: a drift check says of every goal whether it is still served, and only a PASS answers an earlier FAIL.

A goal that is left out is where a deliberation has drifted from. Source: SD-58, SD-68, FORMAT 2 (`drift_check`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import DriftCheck
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Goals that are missing or said twice, and answers to what did not fail."""
    goals = sorted(goal.id for goal in docket.opened.goals) if docket.opened else []
    for event in docket.events:
        if not isinstance(event, DriftCheck):
            continue
        if not docket.is_imported(event.seq) and sorted(anchor.goal for anchor in event.anchors) != goals:
            yield Breach(event.seq, f"{event.id} does not judge each of {', '.join(goals)} once")
        if event.addresses is not None:
            failed = docket.earlier(event.addresses, event.seq)
            if event.verdict != "PASS" or not isinstance(failed, DriftCheck) or failed.verdict != "FAIL":
                yield Breach(
                    event.seq, f"{event.id} addresses {event.addresses}; only a PASS answers an earlier FAIL"
                )


RULE: Final = Rule(
    code="DRF001",
    name="drift_check_covers_every_goal",
    severity="error",
    summary="A drift check judges every goal, and only a PASS answers an earlier FAIL.",
    check=check,
)
