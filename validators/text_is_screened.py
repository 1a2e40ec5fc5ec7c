"""SCR001, error: what was asked and given is screened before anybody answers, and nobody answers what holds a run up.

A screening is recomputed from the opening and its documents; an override is a person's, recorded, and cites it. Runs
that were opened before there was screening are not judged. Source: S4-22, S4-28, S4-29, FORMAT 2 (`screening`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.book import book
from ledger.events import RoundOpened, Screening
from validators.event_follows_from_its_reply import compare
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Screenings that are missing or differ, surplus ones, and rounds that begin while one holds the run up."""
    due = docket.context.screenings
    if due is None or docket.opened is None or not docket.opened.rules.get("screening"):
        return
    expected = due(book(docket.events[:1], docket.book.blobs))
    behind = docket.events[1 : 1 + len(expected)]
    yield from compare(expected, behind, 0, "the screening of what was asked")
    for event in docket.events[1 + len(expected) :]:
        if isinstance(event, Screening) and event.by == "controller":
            yield Breach(event.seq, "a screening that nothing made due")
    if docket.book.state.held_up:
        for event in docket.events:
            if isinstance(event, RoundOpened):
                yield Breach(event.seq, "a round is opened while a screening holds the run up")
                return


RULE: Final = Rule(
    code="SCR001",
    name="text_is_screened",
    severity="error",
    summary="What was asked and given is screened before anybody answers, and nobody answers what holds a run up.",
    check=check,
    applies_to_imports=False,
    recorded=False,
)
