"""DEC003, error: what a decision cites is on the ledger before it and is what the citation calls it.

Closes the hole that the targets of citations were never looked at. Only a decision is overturned or superseded by a
decision. Source: SD-47, SD-50, FORMAT 2 (`decision`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Decision, Event
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Citations of nothing, of later things, of things of another kind, and overturned things that are no decisions."""
    for event in docket.events:
        if not isinstance(event, Decision):
            continue
        for cite in event.cites:
            target = docket.earlier(cite.id, event.seq) or _by_place(docket, cite.id, event.seq)
            if target is None:
                what = "later" if cite.id in docket.book.by_id else "not on the ledger"
                yield Breach(event.seq, f"{event.id} cites {cite.id}, which is {what}")
            elif _COUNTS_AS.get(target.kind, target.kind) != cite.type:
                yield Breach(event.seq, f"{event.id} cites {cite.id} as a {cite.type}; it is a {target.kind}")
            elif (
                cite.relation in ("overturns", "supersedes")
                and target.kind not in ("decision", *_COUNTS_AS)
                and not docket.is_imported(event.seq)
            ):
                yield Breach(event.seq, f"{event.id} {cite.relation} {cite.id}, which is no decision")


_COUNTS_AS: Final = {"ruling": "decision", "screening": "verification"}
"""Kinds without an id that a person may overturn by their place, and what a citation calls them."""


def _by_place(docket: Docket, cited: str, than: int) -> Event | None:
    seq = int(cited[1:]) if cited.startswith("@") and cited[1:].isdigit() else than
    found = docket.events[seq] if seq < than else None
    return found if found is not None and found.kind in _COUNTS_AS else None


RULE: Final = Rule(
    code="DEC003",
    name="cited_thing_exists",
    severity="error",
    summary="What a decision cites is on the ledger before it and is what the citation calls it.",
    check=check,
)
