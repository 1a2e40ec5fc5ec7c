"""VOL001, warning: a round raises 5 to 7 claims and takes 1 to 3 decisions.

Far more is noise that nobody tests; far fewer is silence. Said when the next round opens or the run ends; a stress
round, a role short, may raise fewer. Source: SD-48, SD-82.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Artifact, Claim, Decision, RoundOpened, RunClosed
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

CLAIMS: Final = (5, 7)
DECISIONS: Final = (1, 3)
LESS_UNDER_STRESS: Final = 2


def check(docket: Docket) -> Iterator[Breach]:
    """Rounds outside the norms; rounds of synthesis alone are left out."""
    if not docket.structured:
        return
    opened: RoundOpened | None = None
    claims = decisions = artifacts = 0
    for event in docket.events:
        match event:
            case RoundOpened() | RunClosed(state="finished"):
                if opened is not None and (artifacts or docket.is_imported(opened.seq)):
                    yield from _norms(event.seq, opened, claims, decisions)
                opened = event if isinstance(event, RoundOpened) else None
                claims = decisions = artifacts = 0
            case Claim():
                claims += 1
            case Decision(type="round"):
                decisions += 1
            case Artifact():
                artifacts += 1
            case _:
                pass


def _norms(seq: int, opened: RoundOpened, claims: int, decisions: int) -> Iterator[Breach]:
    least = CLAIMS[0] - (LESS_UNDER_STRESS if opened.absent else 0)
    for found, fewest, most, what in (
        (claims, least, CLAIMS[1], "claims"),
        (decisions, *DECISIONS, "decisions"),
    ):
        if not fewest <= found <= most:
            yield Breach(seq, f"round {opened.round} has {found} {what}; {fewest} to {most} are usual")


RULE: Final = Rule(
    code="VOL001",
    name="round_keeps_its_volume",
    severity="warning",
    summary="A round raises 5 to 7 claims and takes 1 to 3 decisions.",
    check=check,
)
