"""REF005, error, published rule 7: a verification has at least two different pieces of evidence, unless inapplicable.

One piece is an anecdote, and the same piece twice is still one. Source: SD-38, SD-49 (7), SD-50.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Verification
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

PIECES_MIN: Final = 2


def check(docket: Docket) -> Iterator[Breach]:
    """Verdicts on fewer than two different pieces."""
    for event in docket.events:
        if isinstance(event, Verification) and event.result != "NOT_APPLICABLE":
            pieces = {(evidence.ref, evidence.quote) for evidence in event.evidence_refs}
            if len(pieces) < PIECES_MIN:
                yield Breach(
                    event.seq,
                    f"{event.id} rests on {len(pieces)} different pieces of evidence, not {PIECES_MIN}",
                )


RULE: Final = Rule(
    code="REF005",
    name="evidence_has_two_references",
    severity="error",
    summary="A verification has at least two different pieces of evidence, unless it is inapplicable.",
    check=check,
    published=7,
)
