"""WRD002, warning: a proposal has 600 to 800 words, a supplement 200 to 400, a closing of a debate 100 to 200.

Below, there is nothing to attack; above, nobody reads to the weak point. Debates of version 1 are not held to it.
Source: SD-18, XS-6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ledger.events import Statement
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

BUDGETS_WORDS: Final[Mapping[tuple[str, int], Mapping[str, tuple[int, int]]]] = {
    ("structured", 1): {"proposal": (600, 800), "supplement": (200, 400)},
    ("debate", 2): {"closing": (100, 200)},
}
"""(Protocol, its version from which on this holds) → type of statement → fewest and most words."""


def check(docket: Docket) -> Iterator[Breach]:
    """Statements outside their range."""
    opened = docket.opened
    if opened is None:
        return
    budgets = {
        kind: limits
        for (protocol, since), kinds in BUDGETS_WORDS.items()
        if opened.protocol == protocol and opened.protocol_version >= since
        for kind, limits in kinds.items()
    }
    for event in docket.events:
        if isinstance(event, Statement) and event.type in budgets:
            least, most = budgets[event.type]
            if not least <= event.words <= most:
                yield Breach(
                    event.seq, f"{event.id} has {event.words} words; a {event.type} has {least} to {most}"
                )


RULE: Final = Rule(
    code="WRD002",
    name="statement_keeps_its_length",
    severity="warning",
    summary="A proposal has 600 to 800 words, a supplement 200 to 400, a closing of a debate 100 to 200.",
    check=check,
    version=2,
)
