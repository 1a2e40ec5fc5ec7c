"""WRD001, warning: an artifact has at most 600 words and takes at most 30 minutes.

Habitual overrun means that the schema has become too heavy to be read by those who should attack it. Source: SD-4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Artifact
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

WORDS_MAX: Final = 600
MINUTES_MAX: Final = 30


def check(docket: Docket) -> Iterator[Breach]:
    """Artifacts over either budget."""
    for event in docket.events:
        if not isinstance(event, Artifact):
            continue
        if event.words > WORDS_MAX:
            yield Breach(event.seq, f"{event.id} has {event.words} words; the budget is {WORDS_MAX}")
        if event.minutes is not None and event.minutes > MINUTES_MAX:
            yield Breach(event.seq, f"{event.id} took {event.minutes} minutes; the budget is {MINUTES_MAX}")


RULE: Final = Rule(
    code="WRD001",
    name="artifact_is_short",
    severity="warning",
    summary="An artifact has at most 600 words and takes at most 30 minutes.",
    check=check,
)
