"""WRD004, warning: a claim and the notes of a verification have one to three sentences.

A claim of many sentences is several claims, and one verdict cannot test them all. Source: SD-37, SD-42.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Claim, Verification
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule
from validators.reading.words import sentences

SENTENCES_MAX: Final = 3


def check(docket: Docket) -> Iterator[Breach]:
    """Claims and notes that are longer."""
    for event in docket.events:
        match event:
            case Claim():
                text, what = event.text, "the claim"
            case Verification():
                text, what = event.notes, "the notes"
            case _:
                continue
        if sentences(text) > SENTENCES_MAX:
            yield Breach(
                event.seq,
                f"{event.id}: {what} run to {sentences(text)} sentences; {SENTENCES_MAX} are enough",
            )


RULE: Final = Rule(
    code="WRD004",
    name="text_keeps_its_sentences",
    severity="warning",
    summary="A claim and the notes of a verification have one to three sentences.",
    check=check,
)
