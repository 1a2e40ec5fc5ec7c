"""POS003, warning: evidence given for a flip was not cited in the same check before.

What everybody had already seen when the position was sealed does not explain why it changed; such a flip counts as one
without evidence. Source: DETECTORS FM-1, FORMAT 2 (`flip`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Flip, Position, Verification
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Flips that give reasons, none of them new to the check."""
    cited: dict[str, set[str]] = {}
    for event in docket.events:
        if isinstance(event, Verification):
            cited.setdefault(event.id or "", set()).update(evidence.ref for evidence in event.evidence_refs)
        elif isinstance(event, Flip):
            position = docket.earlier(event.of, event.seq)
            if not isinstance(position, Position):
                continue
            known = cited.setdefault(position.on, set())
            given = {evidence.ref for evidence in event.because}
            if given and given <= known:
                yield Breach(event.seq, f"{event.id} cites only what {position.on} had cited before")
            known |= given


RULE: Final = Rule(
    code="POS003",
    name="flip_brings_new_evidence",
    severity="warning",
    summary="Evidence given for a flip was not cited in the same check before.",
    check=check,
    applies_to_imports=False,
)
