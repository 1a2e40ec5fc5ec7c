"""STY007, warning: a verification quotes at least one of the things it rests on.

A paraphrase is the verifier's word for it; a quotation can be looked up. Source: SD-10, SD-11, SD-37.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Verification
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Verdicts of a role all of whose evidence is unquoted."""
    for event in docket.events:
        if not isinstance(event, Verification) or event.step is None or not event.evidence_refs:
            continue
        if not any(evidence.quote for evidence in event.evidence_refs):
            yield Breach(event.seq, f"{event.id} quotes nothing of what it rests on")


RULE: Final = Rule(
    code="STY007",
    name="evidence_is_quoted",
    severity="warning",
    summary="A verification quotes at least one of the things it rests on.",
    check=check,
    applies_to_imports=False,
)
