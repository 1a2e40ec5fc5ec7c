"""REF003, error: what an event refers to is already on the ledger.

An event that leans on a later one was written with knowledge it could not have, or was moved. References of
verifications and decisions have rules of their own. Source: FORMAT 1 (12), FORMAT 2 (`Ref`), SD-5, SD-50.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Concern, Event
from validators.reading.docket import Docket
from validators.reading.references import IDS, SEQS, references, values
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Ids, references and seqs that do not lead to something earlier."""
    options = {option.id for option in docket.opened.options} if docket.opened else frozenset[str]()
    for event in docket.events:
        for field, identity in values(event, IDS.get(event.kind, ())):
            if identity not in options and docket.earlier(identity, event.seq) is None:
                yield Breach(event.seq, f"{field} names {identity}, which is not on the ledger before it")
        for field, seq in values(event, SEQS.get(event.kind, ())):
            if isinstance(seq, int) and not 0 <= seq < event.seq:
                yield Breach(event.seq, f"{field} is {seq}, which is no earlier event")
        if event.by != "import":
            for field, ref in references(event):
                if docket.passages(ref, event.seq) is None:
                    yield Breach(
                        event.seq, f"{field} points at {ref!r}, which is not on the ledger before it"
                    )
        yield from _parties(event, docket)
        yield from _saw(event)


def _parties(event: Event, docket: Docket) -> Iterator[Breach]:
    if isinstance(event, Concern):
        for party in event.between:
            if party not in docket.roles and docket.earlier(party, event.seq) is None:
                yield Breach(event.seq, f"between names {party}, neither a role nor an earlier event")


def _saw(event: Event) -> Iterator[Breach]:
    if event.saw != tuple(sorted(set(event.saw))):
        yield Breach(event.seq, "saw is not sorted and unique")
    if max(event.saw, default=-1) >= event.seq:
        yield Breach(event.seq, "saw names an event that is not earlier")


RULE: Final = Rule(
    code="REF003",
    name="reference_is_earlier",
    severity="error",
    summary="What an event refers to is already on the ledger.",
    check=check,
)
