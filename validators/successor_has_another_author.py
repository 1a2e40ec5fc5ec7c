"""STY010, warning: a claim is superseded by somebody else than who raised it.

Replacing one's own claim is allowed, and is also the way in which a refuted claim quietly comes back: look whether the
successor is stricter. Source: SD-44 ("later stricter claim").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Claim
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Claims that supersede a claim of the same role."""
    for event in docket.events:
        if not isinstance(event, Claim) or event.supersedes is None:
            continue
        older = docket.earlier(event.supersedes, event.seq)
        if isinstance(older, Claim) and older.raised_by == event.raised_by:
            yield Breach(
                event.seq, f"{event.raised_by} replaces its own {older.id} by {event.id}: is it stricter?"
            )


RULE: Final = Rule(
    code="STY010",
    name="successor_has_another_author",
    severity="warning",
    summary="A claim is superseded by somebody else than who raised it.",
    check=check,
)
