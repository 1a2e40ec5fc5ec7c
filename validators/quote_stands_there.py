"""REF004, error: a quotation stands word for word at its reference.

An invented quotation is worse than none: it looks checked. Source: SD-10, SD-11, FORMAT 5 ("a quote matches").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.anchors import contains_quote
from validators.reading.docket import Docket
from validators.reading.references import all_evidence
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Quotations that do not stand where they are said to; a warning where a redacted copy says that it replaced words.

    A reference that leads nowhere is another rule's.
    """
    for event in docket.events:
        for field, evidence in all_evidence(event):
            if evidence.quote is None or docket.was_redacted(evidence.ref):
                continue
            texts = docket.passages(evidence.ref, event.seq)
            if texts is not None and not contains_quote(texts, evidence.quote):
                what = f"{field}: the quotation does not stand at {evidence.ref}"
                if docket.was_reworded(event, evidence.ref):
                    yield Breach(event.seq, f"{what}, where words were redacted", "warning")
                else:
                    yield Breach(event.seq, what)


RULE: Final = Rule(
    code="REF004",
    name="quote_stands_there",
    severity="error",
    summary="A quotation stands word for word at its reference.",
    check=check,
)
