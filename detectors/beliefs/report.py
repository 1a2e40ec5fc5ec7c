"""What `moot signals --json` prints for forecasts: points rounded half-even to two decimals, here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from detectors.beliefs.agenda import ShownCrux
from detectors.beliefs.course import RoundEnd, course_of, without_each
from detectors.beliefs.parameters import RUN_HERE
from detectors.beliefs.pool import Points
from detectors.beliefs.stop import in_words
from detectors.beliefs.table import NONE, BeliefTable
from detectors.beliefs.unseen import Unseen
from detectors.beliefs.update import CruxResult
from ledger.events.values import EvidenceClass, HowTested, StopReason
from ledger.result import Result

POINT_DIGITS: Final = 2
NOBODY: Final = "No role has a belief that counts."


class CruxWorth(Result, frozen=True):
    """What a test of a crux would be worth, in points, if it were reproduced, and if it were argued."""

    reproduced: float | None
    argued: float | None


class CruxInRound(Result, frozen=True, rename={"evidence": "class"}):
    """A crux of a round, in points: the means as sealed before its result, or as the stop read them."""

    claim: str
    how: HowTested
    q: float | None
    if_true: dict[str, float] | None
    if_false: dict[str, float] | None
    evsi: CruxWorth
    result: CruxResult | None
    evidence: EvidenceClass | None


class StopInWords(Result, frozen=True):
    """Why the run stops or goes on; `reason` is null where no role is in the pool."""

    reason: StopReason | None
    go_on: bool
    crux: str | None
    text: str


class PoolInRound(Result, frozen=True):
    """Beliefs at the end of a round, in points; `joint` is what all open cruxes are worth together at their best."""

    round: int
    pool: dict[str, float]
    roles: dict[str, dict[str, int]]
    derived: list[str]
    leader: str | None
    margin: float | None
    movement: float | None
    noise: float | None
    cruxes: list[CruxInRound]
    joint: float | None
    stop: StopInWords


class CarriedByRole(Result, frozen=True):
    """The end without a role: who would lead, and whether leader or status would differ."""

    leader: str | None
    changes: bool


class UnseenDefeaters(Result, frozen=True):
    """Defeaters found, by one role, by two, over so many lists, and two estimates of how many there are in all."""

    distinct: int
    once: int
    twice: int
    lists: int
    jackknife: float
    chao2: float


class Beliefs(Result, frozen=True):
    """Forecasts over the rounds of a run: the group's, the roles', the cruxes and the stop of each.

    `words`: id → text of every option and claim that is named; empty for a table of numbers.
    """

    run: str | None
    options: list[str]
    rounds: list[PoolInRound]
    without: dict[str, CarriedByRole]
    unseen: UnseenDefeaters | None
    words: dict[str, str]


def of_table(table: BeliefTable, words: Mapping[str, str] | None = None) -> Beliefs:
    """What a table comes to: everything derived, every round's stop, the end without each role."""
    ends = course_of(table.rounds, table.terms)
    return Beliefs(
        run=table.run,
        options=[option for option in table.options if option != NONE],
        rounds=[_round(end, table) for end in ends],
        without={
            role: CarriedByRole(_named(end.leader, table), end.changes)
            for role, end in without_each(table.rounds, table.terms).items()
        },
        unseen=None if table.unseen is None else _unseen(table.unseen),
        words=dict(words or {}),
    )


def rounded(points: Fraction) -> float:
    """Two decimals, half-even: the exact value is rounded, never a float."""
    return float(round(points, POINT_DIGITS))


def _round(end: RoundEnd, table: BeliefTable) -> PoolInRound:
    return PoolInRound(
        round=end.number,
        pool={} if end.pool is None else _by_option(end.pool, table),
        roles={role: _whole(points, table) for role, points in end.roles.items()},
        derived=list(end.derived),
        leader=_named(end.leader, table),
        margin=_maybe(end.margin),
        movement=_maybe(end.movement),
        noise=_maybe(end.noise),
        cruxes=[_crux(crux, table) for crux in end.shown],
        joint=_maybe(end.joint),
        stop=_stop(end, table),
    )


def _stop(end: RoundEnd, table: BeliefTable) -> StopInWords:
    if end.stop is None:
        return StopInWords(None, False, None, NOBODY)
    text = in_words(end.stop, end.values, end.joint, table.terms.tau)
    # said here and not by `in_words`, whose sentence stands in the briefs of recorded runs
    if end.stop.reason == "values" and (left := _given_up(end, table)):
        text = (
            f"Nothing that was tested here told the first two apart. {' and '.join(left)} could if it were run,"
            " and was argued about as often as may be: a person weighs, or runs it."
        )
    return StopInWords(end.stop.reason, end.stop.go_on, end.stop.crux, text)


def _given_up(end: RoundEnd, table: BeliefTable) -> list[str]:
    """Cruxes that a program would decide, that are worth a round, and that were asked about until no more was left."""
    still = {one.claim for one in end.values}
    return [
        crux.claim
        for crux in end.shown
        if crux.claim not in still
        and crux.result not in ("holds", "fails")
        and crux.how in RUN_HERE
        and crux.reproduced is not None
        and crux.reproduced >= table.terms.tau
    ]


def _crux(crux: ShownCrux, table: BeliefTable) -> CruxInRound:
    numbers = crux.numbers
    return CruxInRound(
        claim=crux.claim,
        how=crux.how,
        q=None if numbers is None else rounded(numbers.q),
        if_true=None if numbers is None else _by_option(numbers.if_true, table),
        if_false=None if numbers is None else _by_option(numbers.if_false, table),
        evsi=CruxWorth(_maybe(crux.reproduced), _maybe(crux.argued)),
        result=crux.result,
        evidence=crux.evidence,
    )


def _unseen(found: Unseen) -> UnseenDefeaters:
    return UnseenDefeaters(
        found.distinct,
        found.once,
        found.twice,
        found.lists,
        rounded(found.jackknife),
        rounded(found.chao2),
    )


def _by_option(points: Points, table: BeliefTable) -> dict[str, float]:
    return {option: rounded(value) for option, value in zip(table.options, points, strict=True)}


def _whole(points: Points, table: BeliefTable) -> dict[str, int]:
    """A belief: its points are whole, given or derived."""
    return {option: int(value) for option, value in zip(table.options, points, strict=True)}


def _named(option: int | None, table: BeliefTable) -> str | None:
    return None if option is None else table.options[option]


def _maybe(points: Fraction | None) -> float | None:
    return None if points is None else rounded(points)
