"""STY005, warning: the edge case of a trace set begins with another trigger than the happy path.

The same trigger twice is one trace told twice. Source: SD-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from validators.reading.bodies import artifacts, texts
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Trace sets whose first two traces share their trigger."""
    for event in artifacts(docket, "behavioral_trace_set"):
        triggers = [
            " ".join(text.casefold().split()).rstrip(".") for text in texts(event, "traces", "trigger")
        ]
        if len(triggers) > 1 and triggers[0] and triggers[0] == triggers[1]:
            yield Breach(event.seq, f"{event.id}: happy path and edge case share their trigger")


RULE: Final = Rule(
    code="STY005",
    name="edge_case_has_its_own_trigger",
    severity="warning",
    summary="The edge case of a trace set begins with another trigger than the happy path.",
    check=check,
)
