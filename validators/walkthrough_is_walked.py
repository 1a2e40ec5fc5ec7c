"""STY002, warning: the steps of a walkthrough are told as done, not as what would be done.

"Would click" was never tried; friction shows only where somebody really went. Source: SD-13.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from validators.reading.bodies import artifacts, texts
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule
from validators.reading.words import CONDITIONAL


def check(docket: Docket) -> Iterator[Breach]:
    """Walkthroughs with steps in the conditional mood."""
    for event in artifacts(docket, "operator_walkthrough"):
        steps = [n for n, text in enumerate(texts(event, "steps", "action"), 1) if CONDITIONAL.search(text)]
        if steps:
            yield Breach(
                event.seq, f"{event.id} tells step {', '.join(map(str, steps))} in the conditional mood"
            )


RULE: Final = Rule(
    code="STY002",
    name="walkthrough_is_walked",
    severity="warning",
    summary="The steps of a walkthrough are told as done, not as what would be done.",
    check=check,
)
