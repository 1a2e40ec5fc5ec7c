"""STY004, warning: an invariant is measured by something and has a tolerance; it is no wish.

"Should always be reasonable" cannot be violated. Source: SD-10, SD-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from validators.reading.bodies import artifacts, part, text
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

WISH: Final = re.compile(
    r"\b(should|hopefully|ideally|try to|tries to|aim to|aims to|strive|strives|reasonable|as much as possible"
    r"|good enough|user[- ]friendly|appropriate|adequate)\b",
    re.IGNORECASE,
)
EXACT: Final = re.compile(
    r"[0-9]|\b(zero|no|none|never|one|two|three|four|five|ten|every|each|all|exact|exactly|identical)\b",
    re.IGNORECASE,
)


def check(docket: Docket) -> Iterator[Breach]:
    """Invariants that wish, and tolerances without a quantity."""
    for event in artifacts(docket, "identity_invariant_check"):
        invariant = part(event, "invariant")
        wish = WISH.search(text(invariant, "always"))
        if wish:
            yield Breach(event.seq, f"{event.id}: the invariant is a wish ({wish[0].lower()!r})")
        tolerance = text(invariant, "tolerance")
        if tolerance and not EXACT.search(tolerance):
            yield Breach(event.seq, f"{event.id}: the tolerance {tolerance[:60]!r} names no quantity")


RULE: Final = Rule(
    code="STY004",
    name="invariant_is_falsifiable",
    severity="warning",
    summary="An invariant is measured by something and has a tolerance; it is no wish.",
    check=check,
)
