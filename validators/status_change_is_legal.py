"""LIF002, error: a claim moves only along the status machine, once in a verification, and never by a re-judgement.

pending may be tested; what was tested may be tested again; superseded is final, and only a later claim supersedes.
Source: SD-43, SD-44, SD-46, FORMAT 2 (`bearing`, `repeats`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ledger.events import Verification
from ledger.lifecycle import TRANSITIONS
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Moves that the machine does not have."""
    for event in docket.events:
        if not isinstance(event, Verification):
            continue
        counts = Counter(change.claim_id for change in event.claim_status_changes)
        for identity in (claim for claim, count in counts.items() if count > 1):
            yield Breach(event.seq, f"{event.id} moves {identity} {counts[identity]} times")
        if event.repeats is not None and event.claim_status_changes:
            yield Breach(event.seq, f"{event.id} repeats {event.repeats} and yet moves claims")
        for change in event.claim_status_changes:
            if change.to == "superseded":
                yield Breach(event.seq, f"{event.id} supersedes {change.claim_id}; only a claim can")
            elif change.to not in TRANSITIONS[change.from_]:
                yield Breach(
                    event.seq, f"{event.id} moves {change.claim_id} from {change.from_} to {change.to}"
                )


RULE: Final = Rule(
    code="LIF002",
    name="status_change_is_legal",
    severity="error",
    summary="A claim moves only along the status machine, once in a verification, never by a re-judgement.",
    check=check,
)
