"""Which checks a round can make: a table and two questions that several rules ask (SD-35, SD-36, FORMAT 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ledger.decided import has_precedent
from ledger.events import RoundOpened
from validators.reading.docket import Docket

NEEDS: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("action", "critic"),
    2: ("guardian", "observer"),
    3: ("observer", "critic"),
    4: (),
}
"""Check → roles whose artifact it cannot do without. Check 4 needs an earlier decision instead."""


def applicable(opened: RoundOpened, docket: Docket) -> tuple[int, ...]:
    """Checks that the round can make, judged when it is opened."""
    decided = has_precedent(docket.book.state, opened.seq)
    return tuple(
        check for check, roles in NEEDS.items() if opened.absent not in roles and (check != 4 or decided)
    )


def asked(opened: RoundOpened, docket: Docket, than: int) -> tuple[int, ...]:
    """The applicable checks whose artifacts were not given up before seq `than`."""
    given_up = docket.book.state.given_up
    lost = {role for role in docket.authors if given_up.get(f"r{opened.round}.D.{role}", than) < than}
    return tuple(check for check in opened.applicable if not lost.intersection(NEEDS.get(check, ())))


def asks_in(opened: RoundOpened, docket: Docket, phase: str) -> bool:
    """Whether the plan gives this round a phase."""
    plan = docket.opened.plan if docket.opened else ()
    return opened.plan_row < len(plan) and phase in plan[opened.plan_row].phases
