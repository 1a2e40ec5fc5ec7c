"""DEC005, error: a ruling ACT is made with a vote of safety in every ballot.

moot 0.1 counted a lost vote of safety as one REFUSE among three, and two of three could act. Source: S4-7, S4-9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Ruling, Vote
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Rulings that act although a vote of safety was lost before them."""
    lost: list[str] = []
    for event in docket.events:
        if isinstance(event, Vote) and event.fallback and str(event.id).endswith("-safety"):
            lost.append(str(event.id))
        elif isinstance(event, Ruling) and event.decision == "ACT" and lost:
            yield Breach(event.seq, f"the ruling is ACT, and nobody gave {', '.join(lost)}")


RULE: Final = Rule(
    code="DEC005",
    name="act_has_a_vote_of_safety",
    severity="error",
    summary="A ruling ACT is made with a vote of safety in every ballot.",
    check=check,
    recorded=False,
)
