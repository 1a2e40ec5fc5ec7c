"""WRD002, warning: a proposal has 600 to 800 words, a supplement 200 to 400.

Below, there is nothing to attack; above, nobody reads to the weak point. Source: SD-18.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ledger.events import Statement
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

BUDGETS_WORDS: Final[Mapping[str, tuple[int, int]]] = {"proposal": (600, 800), "supplement": (200, 400)}
"""Type of statement → fewest and most words, in the protocol `structured`."""


def check(docket: Docket) -> Iterator[Breach]:
    """Proposals and supplements outside their range."""
    if not docket.structured:
        return
    for event in docket.events:
        if isinstance(event, Statement) and event.type in BUDGETS_WORDS:
            least, most = BUDGETS_WORDS[event.type]
            if not least <= event.words <= most:
                yield Breach(
                    event.seq, f"{event.id} has {event.words} words; a {event.type} has {least} to {most}"
                )


RULE: Final = Rule(
    code="WRD002",
    name="statement_keeps_its_length",
    severity="warning",
    summary="A proposal has 600 to 800 words, a supplement 200 to 400.",
    check=check,
)
