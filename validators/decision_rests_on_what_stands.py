"""DEC006, warning: when a decision is made, nothing that it rests on has fallen already.

What falls later puts a decision AT RISK, which every output says; a decision that was built on a refuted claim, or on
a decision that was AT RISK by then, should have been seen by its author. Source: SD-47, SD-78, FORMAT 2 (*at risk*).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.decided import Fallen, fallen_under
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Decisions that rested on what had fallen before them, directly or through what they build on."""
    state = docket.book.state
    for identity, facts in state.decisions.items():
        fallen = fallen_under(state, identity, at=facts.seq)
        if fallen:
            told = "; ".join(map(_told, fallen))
            yield Breach(facts.seq, f"{identity} rests on what did not stand when it was made: {told}")


def _told(one: Fallen) -> str:
    through = f", through {', '.join(one.through)}" if one.through else ""
    return f"{one.id} ({one.status}{through})"


RULE: Final = Rule(
    code="DEC006",
    name="decision_rests_on_what_stands",
    severity="warning",
    summary="When a decision is made, nothing that it rests on has fallen already.",
    check=check,
    recorded=False,
)
