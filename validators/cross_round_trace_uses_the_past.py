"""STY006, warning: after round 1, the cross-round trace builds on something from an earlier round.

A deliberation whose rounds do not use each other starts anew every time. Source: SD-6, SD-7, SD-9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from ledger.ids import parse_reference, round_of
from validators.reading.bodies import artifacts, entries
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Cross-round traces whose hooks name nothing of an earlier round."""
    for event in artifacts(docket, "behavioral_trace_set"):
        if event.round <= 1:
            continue
        for trace in entries(event, "traces"):
            if trace.get("kind") == "cross_round" and not _reaches_back(trace.get("hooks"), event.round):
                yield Breach(
                    event.seq, f"{event.id}: the cross-round trace names nothing of an earlier round"
                )


def _reaches_back(hooks: Any, round_: int) -> bool:
    for hook in cast("list[Any]", hooks) if isinstance(hooks, list) else []:
        found = round_of(parse_reference(hook).id) if isinstance(hook, str) else None
        if found is not None and found < round_:
            return True
    return False


RULE: Final = Rule(
    code="STY006",
    name="cross_round_trace_uses_the_past",
    severity="warning",
    summary="After round 1, the cross-round trace builds on something from an earlier round.",
    check=check,
)
