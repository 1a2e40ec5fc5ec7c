"""ORD002, error: rounds are opened in the order of the plan, when nothing of the round before is left open.

A stress round that is quietly renamed, skipped or given to another role would pass for a test that never took place.
Source: SD-23 … SD-26, SD-84, FORMAT 2 (`round_opened`), FORMAT 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Amendment, RoundOpened, RunClosed
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Openings that leave the plan's order or rows, and steps left open by an opening or an end."""
    plan = docket.opened.plan if docket.opened else ()
    due, amended = 0, False
    for event in docket.events:
        match event:
            case Amendment(what="plan"):
                amended = True
            case RoundOpened():
                if event.plan_row != due or event.plan_row >= len(plan):
                    yield Breach(
                        event.seq, f"round {event.round} opens plan row {event.plan_row}; row {due} is due"
                    )
                elif not amended:
                    yield from _differences(event, docket)
                due = event.plan_row + 1
                yield from _left(docket, event, f"round {event.round} opens")
            case RunClosed(state="finished"):
                yield from _left(docket, event, "the run finishes")
            case _:
                pass


def _differences(event: RoundOpened, docket: Docket) -> Iterator[Breach]:
    assert docket.opened is not None, "a plan row was found"
    row = docket.opened.plan[event.plan_row]
    if event.round != row.round:
        yield Breach(event.seq, f"plan row {event.plan_row} is round {row.round}, not {event.round}")
    for name, stated in (("absent", event.absent), ("planned_stress", event.planned_stress)):
        if stated != row.absent:
            yield Breach(event.seq, f"{name} is {stated or 'nobody'}; the plan says {row.absent or 'nobody'}")


def _left(docket: Docket, event: RoundOpened | RunClosed, what: str) -> Iterator[Breach]:
    waiting = docket.left_open.get(event.seq, ())
    if waiting:
        yield Breach(event.seq, f"{what} while {', '.join(waiting)} is open")


RULE: Final = Rule(
    code="ORD002",
    name="round_follows_the_plan",
    severity="error",
    summary="Rounds are opened in the order of the plan, when nothing of the round before is left open.",
    check=check,
    applies_to_imports=False,
)
