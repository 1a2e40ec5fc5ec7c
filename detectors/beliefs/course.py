"""Beliefs over the rounds of a run: one round after the other, and the whole of it without each role.

A round is what was given in it: beliefs of the roles' own, numbers about cruxes, and results. What follows is computed:
derived beliefs, the pool, what the cruxes are worth now, and whether to stop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeVar

from detectors.beliefs.agenda import (
    AskedCrux,
    ByClaim,
    ShownCrux,
    agenda_after,
    is_open,
    mean_in_pool,
    shown_cruxes,
    value_of,
)
from detectors.beliefs.parameters import CruxTerms
from detectors.beliefs.pool import ByRole, Points, leader_of, margin_of, mean_of, movement_of, noise_of
from detectors.beliefs.stop import STATUS, CruxStop, Situation, short_way, stop_of
from detectors.beliefs.triage import CruxValue
from detectors.beliefs.update import Verdict, derived
from detectors.beliefs.values import joint_value

Given = TypeVar("Given")


class BeliefRound(NamedTuple):
    """What was given in a round. `own`: beliefs that roles gave themselves, after the results if there are any.

    `redraw`: the first belief again, of the role named. `asked`: how many answers were asked for. `no_budget` and
    `no_room` are what forbids another round.
    """

    own: ByRole
    cruxes: Sequence[AskedCrux] = ()
    redraw: tuple[str, Points] | None = None
    asked: int = 0
    no_budget: bool = False
    no_room: bool = False


class RoundEnd(NamedTuple):
    """Where beliefs stand at the end of a round. All numbers are points, exact.

    `latest`: of everybody who ever gave one; `moved`: what results made of the beliefs before, also where a role
    has since given its own; `pool` is the mean of `roles`, None without any. `values`: the open cruxes that the stop
    read.
    """

    number: int
    latest: ByRole
    roles: ByRole
    moved: ByRole
    derived: tuple[str, ...]
    pool: Points | None
    leader: int | None
    margin: Fraction | None
    movement: Fraction | None
    noise: Fraction | None
    agenda: ByClaim
    shown: tuple[ShownCrux, ...]
    values: tuple[CruxValue, ...]
    joint: Fraction | None
    stop: CruxStop | None


class WithoutRole(NamedTuple):
    """The last round without a role: who would lead, and whether leader or status would differ."""

    leader: int | None
    changes: bool


def course_of(rounds: Sequence[BeliefRound], terms: CruxTerms) -> list[RoundEnd]:
    """The end of every round, in order."""
    ends: list[RoundEnd] = []
    for one in rounds:
        ends.append(round_end(ends[-1] if ends else None, one, terms))
    return ends


def without_each(rounds: Sequence[BeliefRound], terms: CruxTerms) -> dict[str, WithoutRole]:
    """What the last round would be without each role of its pool, all computed anew."""
    whole = course_of(rounds, terms)[-1]
    return {role: _without(role, rounds, terms, whole) for role in whole.roles}


def _without(role: str, rounds: Sequence[BeliefRound], terms: CruxTerms, whole: RoundEnd) -> WithoutRole:
    end = course_of([_left_out(one, role) for one in rounds], terms)[-1]
    return WithoutRole(end.leader, end.leader != whole.leader or status_of(end) != status_of(whole))


def _left_out(one: BeliefRound, role: str) -> BeliefRound:
    return one._replace(
        own=_but(one.own, role),
        cruxes=[crux._replace(given=_but(crux.given, role)) for crux in one.cruxes],
        redraw=None if one.redraw is None or one.redraw[0] == role else one.redraw,
        asked=one.asked - (role in one.own),
    )


def _but(named: Mapping[str, Given], role: str) -> dict[str, Given]:
    return {name: value for name, value in named.items() if name != role}


def status_of(end: RoundEnd) -> str:
    """What the outcome would be if the run ended here."""
    return "nobody_answered" if end.stop is None else STATUS[end.stop.reason]


def round_end(before: RoundEnd | None, now: BeliefRound, terms: CruxTerms) -> RoundEnd:
    """Where beliefs stand after a round, from where they stood before it (None: the round of first answers).

    A role's own belief stands; else results move it, or leave it. Whoever was asked for numbers and gave none is out
    of the pool until it answers.
    """
    number = 1 if before is None else before.number + 1
    agenda: ByClaim = {} if before is None else before.agenda
    latest: ByRole = {} if before is None else before.latest
    moved = {
        role: derived(points, verdicts)
        for role, points in latest.items()
        if (verdicts := _verdicts(role, now.cruxes, agenda, terms))
    }
    after = {**latest, **moved, **now.own}
    roles = {role: after[role] for role in after if _in_pool(role, before, now)}
    agenda = agenda_after(number, agenda, now.cruxes, latest, after, terms)
    pool = mean_of(roles.values()) if roles else None
    end = RoundEnd(
        number=number,
        latest=after,
        roles=roles,
        moved=moved,
        derived=tuple(role for role in roles if role in moved and role not in now.own),
        pool=pool,
        leader=None if pool is None else leader_of(pool),
        margin=None if pool is None else margin_of(pool),
        movement=movement_of(before.roles, roles) if before else None,
        noise=_noise(before, now),
        agenda=agenda,
        shown=tuple(shown_cruxes(now.cruxes, agenda, roles, terms)),
        values=(),
        joint=None,
        stop=None,
    )
    return end if pool is None else _stopped(end, pool, before, now, terms)


def _verdicts(role: str, cruxes: Sequence[AskedCrux], agenda: ByClaim, terms: CruxTerms) -> list[Verdict]:
    """The results of the round that move this role; a second argued verdict on one claim is none."""
    found: list[Verdict] = []
    for crux in cruxes:
        again = crux.evidence == "argued" and crux.claim in agenda and agenda[crux.claim].argued
        if crux.held is not None and crux.evidence is not None and role in crux.given and not again:
            quality = terms.parameters.qualities[crux.evidence]
            found.append(Verdict(crux.given[role], crux.held, quality))
    return found


def _in_pool(role: str, before: RoundEnd | None, now: BeliefRound) -> bool:
    if role in now.own or any(role in crux.given for crux in now.cruxes):
        return True
    return before is not None and role in before.roles and not any(crux.given for crux in now.cruxes)


def _noise(before: RoundEnd | None, now: BeliefRound) -> Fraction | None:
    """ν of this round's redraw, else the one that is known; the redraw of a lost answer says nothing."""
    if now.redraw is not None and now.redraw[0] in now.own:
        return noise_of(now.own[now.redraw[0]], now.redraw[1])
    return before.noise if before else None


def _stopped(
    end: RoundEnd, pool: Points, before: RoundEnd | None, now: BeliefRound, terms: CruxTerms
) -> RoundEnd:
    """The same with the values of the open cruxes and with the stop."""
    numbers = {
        claim: mean
        for claim, crux in end.agenda.items()
        if is_open(crux, terms) and (mean := mean_in_pool(crux.given, end.roles)) is not None
    }
    values = tuple(value_of(end.agenda[claim], mean, terms) for claim, mean in numbers.items())
    best = terms.parameters.at_best
    joint = joint_value(pool, [(mean, best[end.agenda[claim].how]) for claim, mean in numbers.items()])
    here = [(mean, terms.here(end.agenda[claim].how)) for claim, mean in numbers.items()]
    at_hand = [(mean, quality) for mean, quality in here if quality is not None]
    situation = Situation(
        rounds=end.number - 1,
        none=pool[-1],
        margin=margin_of(pool),
        leader_unchanged=before is None or before.leader == end.leader,
        movement=end.movement,
        noise=end.noise,
        open=values,
        joint=joint,
        joint_here=joint_value(pool, at_hand),
        weighed=before is not None and before.stop is not None and before.stop.weighing,
        ill_posed=terms.frame is not None and terms.frame.ill_posed,
        no_budget=now.no_budget,
        no_room=now.no_room,
    )
    if before is None and _is_short(now, terms):
        stop = CruxStop("short", None, False)
    else:
        stop = stop_of(situation, terms.tau, terms.rounds_at_most, terms.parameters)
    return end._replace(values=values, joint=joint, stop=stop)


def _is_short(now: BeliefRound, terms: CruxTerms) -> bool:
    short = terms.parameters.short
    return short_way(
        now.own,
        now.asked,
        [one for crux in now.cruxes for one in crux.given.values()],
        terms.frame,
        at_least=short.first_from if terms.first else short.all_from,
        tau=terms.tau,
        parameters=terms.parameters,
    )
