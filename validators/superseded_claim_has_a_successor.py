"""LIF005, error, published rule 4: a claim supersedes an earlier claim that was tested, and never itself.

A pending claim that disappears was never tested. Closes the holes that "later" was not checked and that a claim could
supersede itself. Source: SD-44, SD-46, SD-49 (4), SD-50, FORMAT 2 (`supersedes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Claim
from ledger.lifecycle import TESTED
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Successors of nothing, of themselves, of later, of pending and of superseded claims."""
    for event in docket.events:
        if not isinstance(event, Claim) or event.supersedes is None:
            continue
        older = event.supersedes
        if older == event.id:
            yield Breach(event.seq, f"{event.id} supersedes itself")
        elif not isinstance(docket.earlier(older, event.seq), Claim):
            yield Breach(event.seq, f"{event.id} supersedes {older}, which is no claim raised before it")
        else:
            stood = docket.stood_at_opening(older, event)
            known = event.step is None or event.step in docket.openings
            if known and stood not in TESTED:
                was = stood or "not yet raised"
                yield Breach(event.seq, f"{event.id} supersedes {older}, which was {was}, not tested")


RULE: Final = Rule(
    code="LIF005",
    name="superseded_claim_has_a_successor",
    severity="error",
    summary="A claim supersedes an earlier claim that was tested, and never itself.",
    check=check,
    published=4,
)
