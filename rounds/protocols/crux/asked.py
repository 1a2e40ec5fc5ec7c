"""Who is asked in a run of `crux`: who plans which test, who is asked again, who writes the answer and who objects."""

from __future__ import annotations

from typing import NamedTuple

from detectors.beliefs.course import RoundEnd
from detectors.beliefs.parameters import RUN_HERE, CruxTerms, crux_parameters
from detectors.beliefs.pool import apart
from detectors.beliefs.triage import CruxValue, doubter_of, holder_of
from detectors.beliefs.update import CruxResult, Predicted, surprised
from detectors.beliefs.values import moves_of
from ledger.state.state import State
from rounds.protocols.crux.standing import (
    DERIVED,
    SEALED,
    belief,
    end_of,
    handed_in,
    latest,
    option_ids,
    plans_orders,
    points_of,
    proposers,
    result_of,
    terms_now,
    tested_in,
)
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import plans_programs


class Assignment(NamedTuple):
    """A crux of a round, who plans its test, and whether the verifier judges it."""

    claim: str
    planners: tuple[str, ...]
    checked: bool


def assignments(state: State, round_: int) -> tuple[Assignment, ...]:
    """Who plans what: the role that doubts a crux most, and for one that cannot be run the one that holds it most."""
    wanted = tested_in(state, round_)
    if not wanted:
        return ()
    end, terms = end_of(state, round_ - 1), terms_now(state)
    values = {one.claim: one for one in end.values}
    return tuple(_assigned(state, end, values[claim], terms) for claim in wanted)


def _assigned(state: State, end: RoundEnd, value: CruxValue, terms: CruxTerms) -> Assignment:
    given = end.agenda[value.claim].given
    q = {role: one.q for role, one in given.items() if role in end.roles}
    if not q:
        return Assignment(value.claim, AUTHORS[:1], checked=True)
    moves = moves_of(next(iter(given.values())))
    doubter = doubter_of(q, end.roles, moves, proposers(state).get(value.claim, []), AUTHORS)
    argued = value.how not in RUN_HERE or (value.here >= terms.tau and not terms.experiments)
    holder = holder_of(q, doubter, AUTHORS) if argued else None
    return Assignment(value.claim, tuple(r for r in AUTHORS if r in (doubter, holder)), argued)


def planners(state: State, round_: int) -> tuple[str, ...]:
    """The roles that plan in a round, in role order: one step each with all its cruxes."""
    wanted = {role for one in assignments(state, round_) for role in one.planners}
    return tuple(role for role in AUTHORS if role in wanted)


def planned_by(state: State, round_: int, role: str) -> tuple[str, ...]:
    """The cruxes whose test a role plans."""
    return tuple(one.claim for one in assignments(state, round_) if role in one.planners)


def programs_wanted(state: State, round_: int, role: str) -> tuple[str, ...]:
    """The cruxes for whose test a role writes a program: to be run here, or for a work order where nobody argues."""
    if not plans_programs(state) and not plans_orders(state):
        return ()
    return tuple(
        one.claim
        for one in assignments(state, round_)
        if role in one.planners
        and state.claims[one.claim].how in RUN_HERE
        and (plans_programs(state) or not one.checked)
    )


def to_check(state: State, round_: int) -> tuple[str, ...]:
    """The cruxes that the verifier judges: those that cannot be run, but for plans that two or more call unfair."""
    return tuple(
        one.claim
        for one in assignments(state, round_)
        if one.checked
        and any(state.artifacts.get(f"A-{round_}-{role}") is not None for role in one.planners)
        and unfair(state, round_, one.claim) < 2
    )


def unfair(state: State, round_: int, claim: str) -> int:
    """How many call the plans of a round for a claim unfair."""
    sealed = [belief(state, round_, role, SEALED) for role in AUTHORS]
    return sum(one.claim == claim and one.fair is False for facts in sealed if facts for one in facts.given)


def forecasters(state: State, round_: int) -> tuple[str, ...]:
    """Who gives numbers about the cruxes of a round: everybody who has a belief."""
    return tuple(role for role in AUTHORS if latest(state, role, round_) is not None)


def updaters(state: State, round_: int) -> tuple[str, ...]:
    """Who is asked for a belief of its own: the surprised, whoever has none that counts; all after a person's word."""
    if handed_in(state, round_):
        return AUTHORS
    return tuple(role for role in AUTHORS if _is_asked_again(state, round_, role))


def _is_asked_again(state: State, round_: int, role: str) -> bool:
    before, sealed = latest(state, role, round_), belief(state, round_, role, SEALED)
    if before is None or sealed is None:
        return True
    after = belief(state, round_, role, DERIVED) or sealed
    options = option_ids(state)
    predicts: dict[str, Predicted] = {
        one.claim: one.predicts for one in sealed.given if one.predicts is not None
    }
    results: dict[str, CruxResult] = {}
    for claim in tested_in(state, round_):
        if (result := result_of(state, round_, claim)[0]) is not None:
            results[claim] = result
    return surprised(
        points_of(before.points, options),
        points_of(after.points, options),
        predicts,
        results,
        crux_parameters(),
    )


# ---------------------------------------------------------------- who writes the answer


def writers(state: State) -> tuple[str, ...]:
    """Roles by how near their belief is to the pool, the nearest first; ties in role order."""
    end = end_of(state, state.round)
    pool = end.pool
    if pool is None:
        return ()
    return tuple(sorted(end.roles, key=lambda role: (apart(end.roles[role], pool), AUTHORS.index(role))))


def objector(state: State, writer: str) -> str | None:
    """The role farthest from the answer: the lowest belief in the leader of all but the writer."""
    end = end_of(state, state.round)
    others = [role for role in AUTHORS if role in end.roles and role != writer]
    if end.leader is None or not others:
        return None
    leader = end.leader
    return min(others, key=lambda role: end.roles[role][leader])
