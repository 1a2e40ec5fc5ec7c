"""STY009, warning: not every check of a round comes out ROBUST.

One such round is a candidate for sycophancy, never a reason to stop: look at how hard the critic pushed. Said when the
next round opens or the run ends. Source: SD-39, SD-73.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import RoundOpened, RunClosed, Verification
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

CHECKS_MIN: Final = 2
"""A single check that holds says nothing about a round."""


def check(docket: Docket) -> Iterator[Breach]:
    """Rounds with at least two verdicts, all ROBUST."""
    results: list[str] = []
    for event in docket.events:
        match event:
            case RoundOpened() | RunClosed(state="finished"):
                if len(results) >= CHECKS_MIN and set(results) == {"ROBUST"}:
                    round_ = event.round - 1 if isinstance(event, RoundOpened) else event.round
                    yield Breach(event.seq, f"all {len(results)} checks of round {round_} are ROBUST")
                results = []
            case Verification(repeats=None) if event.check_id <= 4 and event.result != "NOT_APPLICABLE":
                results.append(event.result)
            case _:
                pass


RULE: Final = Rule(
    code="STY009",
    name="round_has_disagreement",
    severity="warning",
    summary="Not every check of a round comes out ROBUST.",
    check=check,
)
