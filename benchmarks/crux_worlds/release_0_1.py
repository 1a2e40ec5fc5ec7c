"""The rule of release 0.1 in simulated worlds, through its own arithmetic (`detectors/beliefs`).

Answers, redraw, cruxes by value, numbers of all roles, results, derived beliefs, beliefs of the surprised, the stop.
Nobody waits: what would be handed over ends the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from benchmarks.crux_worlds.world import ROLES, Circumstances, Numbers, Seat, World
from detectors.beliefs.agenda import AskedCrux
from detectors.beliefs.course import BeliefRound, RoundEnd, round_end
from detectors.beliefs.parameters import RUN_HERE, CruxTerms, FrameCheck, crux_parameters
from detectors.beliefs.pool import Points, leader_of
from detectors.beliefs.stop import short_way
from detectors.beliefs.triage import CruxValue, doubter_of, holder_of, to_test
from detectors.beliefs.update import Predicted, Verdict, derived, surprised
from detectors.beliefs.values import Conditional, evsi, mean_conditional, moves_of

PARAMETERS: Final = crux_parameters()
TRUST: Final = PARAMETERS.qualities["reproduced"]
CLOSE: Final = 3
"""Replies of the close: memo, objection, check."""
WORST_ROUND: Final = 4 + 4 + 1 + 4
"""Replies of a round of tests at most: plans, conditionals, check, beliefs of the surprised."""


class Ended(NamedTuple):
    """The end of a run: its leader, replies, rounds of tests, and reason to stop."""

    leader: int
    replies: int
    rounds: int
    reason: str


class Proposals(NamedTuple):
    """Cruxes of round 1: the facts on the agenda, and their proposers' numbers."""

    facts: list[int]
    given: dict[int, dict[str, Conditional]]


def run(seed: int, circumstances: Circumstances) -> Ended:
    """Play one world by the rule of release 0.1."""
    world = World(seed, circumstances)
    terms = CruxTerms(
        tau=PARAMETERS.tau(),
        experiments=circumstances.runnable > 0,
        parameters=PARAMETERS,
        documents=False,
        frame=FrameCheck(ill_posed=False, objection=False),
    )
    first = world.seats[seed % len(world.seats)]
    if _is_short_after(first, world, terms):
        return Ended(leader_of(_exact(first.forecast)), 4, 0, "short")  # frame, answer, memo, check
    proposals = _proposals(world, world.seats)
    answers = BeliefRound(
        own={seat.role: _exact(seat.forecast) for seat in world.seats},
        cruxes=[_proposed(world, fact, proposals) for fact in proposals.given],
        redraw=(first.role, _exact(world.redraw(first))),
        asked=len(world.seats),
    )
    end = round_end(None, answers, terms)
    replies = 1 + 4 + 1  # frame, answers, redraw
    if _reason(end) != "short":
        replies += 1  # agenda
        on_agenda = [_proposed(world, fact, proposals) for fact in proposals.facts]
        end = round_end(None, answers._replace(cruxes=on_agenda), terms)
    while end.stop is not None and end.stop.go_on:
        end, asked = _test_round(world, end, terms, replies)
        replies += asked
    return Ended(end.leader or 0, replies + CLOSE, end.number - 1, _reason(end))


def _exact(points: Sequence[int]) -> Points:
    return tuple(Fraction(value) for value in points)


def _conditional(numbers: Numbers) -> Conditional:
    return Conditional(Fraction(numbers.probability), _exact(numbers.if_true), _exact(numbers.if_false))


def _numbers(world: World, seat: Seat, fact: int) -> Conditional:
    return _conditional(world.numbers(seat, fact))


def _proposals(world: World, asked: Sequence[Seat]) -> Proposals:
    """Propose up to three of each seat, with an effect of 10 points or more; the five worth most come to the agenda."""
    given: dict[int, dict[str, Conditional]] = {}
    for seat in asked:
        own = {fact: _numbers(world, seat, fact) for fact in world.facts}
        admitted = [fact for fact in own if moves_of(own[fact]).points >= PARAMETERS.crux.effect_at_least]
        admitted.sort(key=lambda fact: -evsi(own[fact], TRUST))
        for fact in admitted[: PARAMETERS.crux.proposals_at_most]:
            given.setdefault(fact, {})[seat.role] = own[fact]
    facts = sorted(given, key=lambda fact: (-evsi(mean_conditional(given[fact].values()), TRUST), fact))
    return Proposals(facts[: PARAMETERS.crux.agenda_at_most], given)


def _reason(end: RoundEnd) -> str:
    return end.stop.reason if end.stop else "nobody"


def _is_short_after(first: Seat, world: World, terms: CruxTerms) -> bool:
    alone = _proposals(world, [first])
    return short_way(
        {first.role: _exact(first.forecast)},
        1,
        [numbers for given in alone.given.values() for numbers in given.values()],
        terms.frame,
        at_least=PARAMETERS.short.first_from,
        tau=terms.tau,
        parameters=PARAMETERS,
    )


def _proposed(world: World, fact: int, proposals: Proposals) -> AskedCrux:
    # Nothing but a run decides an execution crux. Where nothing runs, 0.1 argued about it; where programs run, a
    # crux that no program decides is one of documents, and there are none.
    not_run = "document" if world.circumstances.runnable else "execution"
    how = "execution" if world.runnable[fact] else not_run
    return AskedCrux(f"C-1-{fact}", how, proposals.given[fact], {})


def _fact(claim: str) -> int:
    return int(claim.rpartition("-")[2])


def _test_round(world: World, before: RoundEnd, terms: CruxTerms, replies: int) -> tuple[RoundEnd, int]:
    """Play a round of tests, and count its replies: plans, conditionals, check, beliefs of the surprised."""
    chosen = to_test(before.values, PARAMETERS)
    planners = {role for value in chosen for role in _planners(before, value, terms)}
    cruxes = [_tested(world, before, value, terms) for value in chosen]
    argued = any(crux.evidence == "argued" for crux in cruxes)
    own = _answers_of_the_surprised(world, cruxes, before)
    taken = len(planners) + len(world.seats) + argued + len(own)
    no_room = replies + taken + WORST_ROUND + CLOSE + 1 > PARAMETERS.stop.replies_at_most
    end = round_end(before, BeliefRound(own=own, cruxes=cruxes, no_room=no_room), terms)
    for seat in world.seats:
        seat.forecast = tuple(int(value) for value in end.roles[seat.role])
    return end, taken


def _tested(world: World, before: RoundEnd, value: CruxValue, terms: CruxTerms) -> AskedCrux:
    """Test a crux with everybody's numbers: by a run, by argument where that is worth it, or not at all."""
    fact = _fact(value.claim)
    attempt = before.agenda[value.claim].rounds
    given = {seat.role: _numbers(world, seat, fact) for seat in world.seats}
    predicts: Mapping[str, Predicted] = {
        role: "holds" if numbers.q >= 50 else "fails" for role, numbers in given.items()
    }
    runs = terms.experiments and value.how == "execution"
    if not runs and not _is_argued(value, terms):
        return AskedCrux(value.claim, value.how, given, predicts)
    result = world.program(fact, attempt) if runs else world.argument(fact, attempt)
    return AskedCrux(value.claim, value.how, given, predicts, result, "reproduced" if runs else "argued")


def _planners(before: RoundEnd, value: CruxValue, terms: CruxTerms) -> set[str]:
    given = before.agenda[value.claim].given
    q = {role: numbers.q for role, numbers in given.items()}
    moves = moves_of(mean_conditional(given.values()))
    doubter = doubter_of(q, before.roles, moves, set(q) if before.number == 1 else (), ROLES)
    holder = holder_of(q, doubter, ROLES) if _is_argued(value, terms) else None
    return {doubter} | ({holder} if holder else set())


def _is_argued(value: CruxValue, terms: CruxTerms) -> bool:
    """Return whether the engine of release 0.1 argues about a crux: about documents always, whatever that is worth."""
    return value.how not in RUN_HERE or (value.here >= terms.tau and not terms.experiments)


def _answers_of_the_surprised(
    world: World, cruxes: Sequence[AskedCrux], before: RoundEnd
) -> dict[str, Points]:
    results = {crux.claim: crux.result for crux in cruxes if crux.result is not None}
    counted = [
        (crux, PARAMETERS.qualities[crux.evidence])
        for crux in cruxes
        if crux.held is not None
        and crux.evidence is not None
        and not (crux.evidence == "argued" and before.agenda[crux.claim].argued)
    ]
    moved = {
        seat.role: derived(
            _exact(seat.forecast),
            [Verdict(crux.given[seat.role], bool(crux.held), quality) for crux, quality in counted],
        )
        for seat in world.seats
    }
    for crux, quality in counted:
        world.learn(_fact(crux.claim), "holds" if crux.held else "fails", quality)
    return {
        seat.role: _exact(world.again(seat))
        for seat in world.seats
        if results
        and surprised(
            _exact(seat.forecast),
            moved[seat.role],
            {crux.claim: crux.predicts[seat.role] for crux in cruxes},
            results,
            PARAMETERS,
        )
    }
