"""DEC001, error, published rule 5: a decision cites at least one thing that it rests on.

A decision without a footing cannot fall when what it was built on falls. Source: SD-47, SD-49 (5).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Decision
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Decisions that cite nothing."""
    for event in docket.events:
        if isinstance(event, Decision) and not any(cite.id.strip() for cite in event.cites):
            yield Breach(event.seq, f"{event.id} cites nothing")


RULE: Final = Rule(
    code="DEC001",
    name="decision_rests_on_a_citation",
    severity="error",
    summary="A decision cites at least one thing that it rests on.",
    check=check,
    published=5,
)
