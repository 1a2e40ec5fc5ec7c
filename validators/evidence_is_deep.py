"""STY008, warning: at least one piece of evidence points below a header.

A reference to a whole artifact or to a section without a number shows that something was opened, not that it was read.
Source: SD-40, SD-83.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Verification
from ledger.ids import parse_reference
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Verdicts all of whose evidence is shallow."""
    for event in docket.events:
        if not isinstance(event, Verification) or not event.evidence_refs:
            continue
        if all(is_shallow(evidence.ref) for evidence in event.evidence_refs):
            yield Breach(event.seq, f"{event.id} points at headers alone: {event.evidence_refs[0].ref}")


def is_shallow(ref: str) -> bool:
    """Whether a reference names no lines and no numbered section (FORMAT 3)."""
    reference = parse_reference(ref)
    return reference.lines is None and not (reference.section or "")[-1:].isdigit()


RULE: Final = Rule(
    code="STY008",
    name="evidence_is_deep",
    severity="warning",
    summary="At least one piece of a verification's evidence points below a header.",
    check=check,
)
