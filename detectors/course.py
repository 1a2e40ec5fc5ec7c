"""Course of a run, and its leaders without each role. Display only.

The course is what the gates and signals read, round by round, for the panel and the page. For the leaders, the answers
of the last round that asked are pooled again without one role: a stress test that costs no reply. It shows the weight
of the role's own answer, and nothing about what the others would have said without hearing it; that takes a fork. A
fork is worth its replies where the leader changes without the role, or where it leads by little.
"""

from __future__ import annotations

from typing import Final

from detectors.forecasts.arithmetic import group_forecast
from detectors.observations import observe, untested
from detectors.parameters import GateParameters, gate_parameters
from detectors.stopping.readiness import course_of, is_asked, last_answers
from detectors.stopping.rounds import count_rounds
from ledger.result import Result
from ledger.state.state import State

CLOSE_POINTS: Final = 5
"""Points by which two answers of one role may differ by chance: a lead of no more than this is close."""


class Series(Result, frozen=True):
    """One number a round, R1 first; null where a round has none. `share` says that the numbers are shares of 1."""

    name: str
    feeds: str
    values: list[float | None]
    share: bool


def course(state: State, parameters: GateParameters | None = None) -> list[Series]:
    """Return what the rounds brought, in the order of the gates and signals that read it."""
    rule = parameters or gate_parameters()
    rounds = count_rounds(state, rule.bypass.references_at_least)
    if not rounds:
        return []
    seen = observe(state)
    # A stress round has fewer checks and no number here.
    disagreement = [None if tally.stress else float(tally.disagreement) for tally in seen.rounds]
    series = [
        _counts("new claims", "FM-5", [len(each.arrivals) for each in rounds]),
        _counts("first tests", "S1", [len(tally.tested) for tally in seen.rounds]),
        Series(name="disagreement", feeds="S2", values=disagreement, share=False),
        Series(name="untested share", feeds="untested", values=_untested(state, len(rounds)), share=True),
    ]
    # Runs that never asked for answers have no margins, and an empty series would draw an empty chart.
    margins = course_of(state, len(rounds)).margins
    if margins:
        series.append(_counts("leader's margin", "settled", [round(float(margin), 1) for margin in margins]))
    return series


def _counts(name: str, feeds: str, values: list[int] | list[float]) -> Series:
    return Series(name=name, feeds=feeds, values=[float(value) for value in values], share=False)


def _untested(state: State, rounds: int) -> list[float | None]:
    """Return the share of untested claims after each round, which the gate `untested` limits."""
    shares: list[float | None] = []
    for number in range(1, rounds + 1):
        raised = sum(claim.round <= number for claim in state.claims.values())
        # The count is taken as of that round, so a claim that was tested later still shows as untested here.
        shares.append(len(untested(state, number)) / raised if raised else None)
    return shares


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
