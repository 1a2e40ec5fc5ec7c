"""SYN001, error: when the synthesis reviews the run, no claim is pending, unless its resolution was given up.

A run that finishes with untested claims looks decided where it is only over. Source: SD-19, FORMAT 5 (S.resolve).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from validators.reading.docket import Docket, is_reply
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Reviews that begin while claims are pending."""
    if not docket.structured:
        return
    seen: set[int] = set()
    for event, step in zip(docket.events, docket.steps, strict=True):
        if step is None or step.act != "review" or not is_reply(event) or event.round in seen:
            continue
        seen.add(event.round)
        given_up = docket.book.state.given_up.get(f"r{event.round}.S.resolve.verifier", event.seq)
        pending = [
            claim for claim in docket.book.state.claims if docket.status_at(claim, event.seq) == "pending"
        ]
        if pending and given_up >= event.seq:
            yield Breach(event.seq, f"the synthesis goes on while {', '.join(pending)} is pending")


RULE: Final = Rule(
    code="SYN001",
    name="synthesis_leaves_nothing_pending",
    severity="error",
    summary="When the synthesis reviews the run, no claim is pending, unless its resolution was given up.",
    check=check,
    applies_to_imports=False,
)
