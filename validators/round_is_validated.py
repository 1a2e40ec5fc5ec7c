"""VER003, error: every round ends with a validation, and a round of synthesis with one after S.

A ledger that was never judged on the way was judged only when it was too late to act.
Source: SD-21, SD-49, FORMAT 2, FORMAT 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import RoundOpened, RunClosed, Validation
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Rounds that end, by the next opening or the finish, without a validation."""
    opened: RoundOpened | None = None
    phases: set[str] = set()
    synthesis = False
    for event, step in zip(docket.events, docket.steps, strict=True):
        if isinstance(event, RoundOpened) or (isinstance(event, RunClosed) and event.state == "finished"):
            held_here = opened is not None and not docket.is_imported(opened.seq)
            if opened is not None and held_here and not phases:
                yield Breach(event.seq, f"round {opened.round} ends without a validation")
            elif opened is not None and synthesis and "S" not in phases:
                yield Breach(event.seq, f"the synthesis of round {opened.round} ends without a validation")
            if isinstance(event, RoundOpened):
                opened, phases, synthesis = event, set[str](), False
        elif isinstance(event, Validation):
            phases.add(event.after)
        elif step is not None and step.phase == "S":
            synthesis = True


RULE: Final = Rule(
    code="VER003",
    name="round_is_validated",
    severity="error",
    summary="Every round ends with a validation, and a round of synthesis with one after S.",
    check=check,
    applies_to_imports=False,
)
