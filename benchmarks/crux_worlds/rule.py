"""Play the rule of `crux` in simulated worlds with the product's own arithmetic (`detectors/forecasts`).

A run has answers, three cruxes by value, sealed numbers of all roles, programs, a second program after a joint
surprise, and the update by Bayes. No role answers twice, and a test that only a person could run ends the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from benchmarks.crux_worlds.world import ROLES, Circumstances, Seat, World
from detectors.forecasts.arithmetic import Numbers, group_forecast, value_of_test
from detectors.forecasts.standing import (
    Crux,
    ForecastTable,
    FrameCheck,
    Verdict,
    all_expected_otherwise,
    cruxes_to_test,
    kept,
    short_way,
    standing_of,
    wants_numbers,
)
from detectors.parameters import ForecastTerms, forecast_parameters
from ledger.events.envelope import HowTested

PARAMETERS: Final = forecast_parameters()
FRAME: Final = FrameCheck(ill_posed=False, objection=False)
PROPOSALS_AT_MOST: Final = 2
EFFECT_AT_LEAST: Final = 10
"""Smallest effect, in points of its own forecast, for which a seat proposes a crux."""
CLOSE: Final = 3
"""Number of replies in the closing: memo, objection, check."""


class Ended(NamedTuple):
    """End of a run: leader, replies, status, and number of second programs."""

    leader: int
    replies: int
    status: str
    second_programs: int = 0


def run(seed: int, circumstances: Circumstances, repeats: float = 0.0) -> Ended:
    """Play one world. `repeats`: share of a program's errors that a second program repeats."""
    world = World(seed, circumstances)
    terms = ForecastTerms(PARAMETERS.tau["normal"], circumstances.runnable > 0, False, PARAMETERS)
    first = world.seats[seed % len(world.seats)]
    if _is_short(world, [first], terms, PARAMETERS.short["first_from"]):
        return Ended(first.forecast.index(max(first.forecast)), 4, "short")  # frame, answer, memo, check
    forecasts = {seat.role: seat.forecast for seat in world.seats}
    group = group_forecast(forecasts.values())
    replies = 1 + 4 + CLOSE
    if _is_short(world, world.seats, terms, PARAMETERS.short["all_from"]):
        return Ended(group.leader, replies, "short")
    agenda = kept(_proposed(world), PARAMETERS)
    replies += 1
    if wants_numbers(agenda, group, terms):
        agenda = [crux._replace(sealed=_sealed(world, _fact(crux))) for crux in agenda]
        replies += 4
    table = ForecastTable(forecasts, agenda, terms, FRAME)
    extra = PARAMETERS.limits.extra_programs_at_most
    verdicts: dict[str, Verdict] = {}
    for crux in cruxes_to_test(table, agenda):
        replies += 1
        verdict = world.program(_fact(crux))
        if verdict == "inconclusive":
            continue
        if extra and all_expected_otherwise(crux.sealed, verdict == "holds", ROLES):
            extra -= 1
            replies += 1
            if world.second_program(_fact(crux), repeats) != verdict:
                continue
        verdicts[crux.claim] = Verdict("holds" if verdict == "holds" else "fails", "reproduced")
    standing = standing_of(
        table._replace(
            cruxes=[
                crux._replace(verdicts=(verdicts[crux.claim],) if crux.claim in verdicts else ())
                for crux in agenda
            ]
        )
    )
    assert standing.leader is not None, "four roles answered"
    second = PARAMETERS.limits.extra_programs_at_most - extra
    return Ended(standing.leader, replies, standing.status.value, second)


def _fact(crux: Crux) -> int:
    return int(crux.claim.rpartition("-")[2])


def _numbers(world: World, seat: Seat, fact: int) -> Numbers:
    return Numbers(*world.numbers(seat, fact))


def _sealed(world: World, fact: int) -> dict[str, Numbers]:
    return {seat.role: _numbers(world, seat, fact) for seat in world.seats}


def _how(world: World, fact: int) -> HowTested:
    # Where programs run, a crux that no program decides is one of documents, and there are none.
    not_run: HowTested = "document" if world.circumstances.runnable else "execution"
    return "execution" if world.runnable[fact] else not_run


def _own_proposals(world: World, seat: Seat) -> dict[int, Numbers]:
    """Return the two cruxes that a seat proposes: those worth most by its own numbers."""
    own = {fact: world.numbers(seat, fact) for fact in world.facts}
    admitted = {fact: Numbers(*own[fact]) for fact in own if own[fact].effect >= EFFECT_AT_LEAST}
    best = PARAMETERS.best
    ranked = sorted(admitted, key=lambda fact: -value_of_test(admitted[fact], best[_how(world, fact)]))
    return {fact: admitted[fact] for fact in ranked[:PROPOSALS_AT_MOST]}


def _proposed(world: World) -> list[Crux]:
    numbers_of: dict[int, dict[str, Numbers]] = {}
    for seat in world.seats:
        for fact, numbers in _own_proposals(world, seat).items():
            numbers_of.setdefault(fact, {})[seat.role] = numbers
    return [Crux(f"C-1-{fact}", _how(world, fact), by_role) for fact, by_role in numbers_of.items()]


def _is_short(world: World, seats: Sequence[Seat], terms: ForecastTerms, at_least: int) -> bool:
    proposals: list[tuple[HowTested, Numbers]] = [
        (_how(world, fact), numbers)
        for seat in seats
        for fact, numbers in _own_proposals(world, seat).items()
    ]
    answers = {seat.role: seat.forecast for seat in seats}
    return short_way(answers, len(seats), proposals, FRAME, terms, at_least)
