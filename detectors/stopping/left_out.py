"""Leaders without each role, by what every role would answer now: a stress test that costs no reply.

The answers of the last round that asked are pooled again without one role. This shows the weight of the role's own
answer,
and nothing about what the others would have said without hearing it; that takes a fork. A fork is worth its replies
where
the leader changes without the role, or where it leads by little.
"""

from __future__ import annotations

from typing import Final

from detectors.forecasts.points import group_forecast
from detectors.stopping.readiness import is_asked, last_answers
from ledger.result import Result
from ledger.state.state import State

CLOSE_POINTS: Final = 5
"""Points by which two answers of one role may differ by chance: a lead of no more than this is close."""


class PoolWithout(Result, frozen=True):
    """The pool without `role`: who leads (`leader` is that of all roles), by how many points, rounded to one decimal.

    `changes`: another option leads. `close`: the leader's margin is at most `CLOSE_POINTS`.
    """

    role: str
    round: int
    leader: str
    without: str
    margin: float
    changes: bool
    close: bool


def left_out(state: State) -> tuple[PoolWithout, ...]:
    """Return each role of the last round that asked, in the order of the cast; empty where fewer than two answered."""
    if not is_asked(state):
        return ()
    last = last_answers(state)
    # Without a second answer there is no pool to compare with.
    if last is None or len(last.by_role) < 2:
        return ()
    leader = last.keys[group_forecast(last.by_role.values()).leader]
    pools: list[PoolWithout] = []
    for role in last.by_role:
        group = group_forecast(points for other, points in last.by_role.items() if other != role)
        without, margin = last.keys[group.leader], group.margin
        pools.append(
            PoolWithout(
                role=role,
                round=last.round,
                leader=leader,
                without=without,
                margin=round(float(margin), 1),
                changes=without != leader,
                close=margin <= CLOSE_POINTS,
            )
        )
    return tuple(pools)
