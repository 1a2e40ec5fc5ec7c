"""Standing of a run of `crux`: its cruxes and what each is worth, forecasts after verdicts, the group, the status.

Forecasts are always recomputed from the sealed numbers and one verdict per crux. A role without numbers about a crux
that has a verdict leaves the group forecast, because its forecast ignores the result. Where no role has numbers about a
crux, its verdict moves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, get_args

import msgspec

from detectors.forecasts.arithmetic import (
    WHOLE,
    CruxResult,
    Forecast,
    GroupForecast,
    Numbers,
    group_forecast,
    joint_value,
    leader_of,
    mean_numbers,
    moved_numbers,
    rounded,
    updated_forecast,
    value_of_test,
)
from detectors.parameters import ForecastParameters, ForecastTerms, Level
from ledger.events.envelope import HowTested, TestResult
from ledger.result import Result
from roles.outcome_status import OutcomeStatus


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Result that is one way or the other, and the level of its evidence."""

    result: TestResult
    level: Level

    @property
    def holds(self) -> bool:
        """Return whether the claim holds."""
        return self.result == "holds"


class Crux(NamedTuple):
    """Crux of the agenda: its proposers' numbers, the numbers of all roles if asked, and its verdicts in order.

    Each role's numbers are about the crux as the agenda words it; a proposal of the opposite is turned round first.
    """

    claim: str
    how: HowTested
    proposed: Mapping[str, Numbers]
    sealed: Mapping[str, Numbers] = {}
    verdicts: tuple[Verdict, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict that counts: the highest level, among equals the later one."""
        order: Sequence[Level] = get_args(Level)
        # `min` keeps the first of equals, so the reversed order prefers the later verdict.
        return min(reversed(self.verdicts), key=lambda verdict: order.index(verdict.level), default=None)

    @property
    def mean(self) -> Numbers | None:
        """Return the proposers' mean, by which cruxes are ranked and tested; None without a proposer's numbers."""
        return mean_numbers(self.proposed.values()) if self.proposed else None


def best_value(crux: Crux, parameters: ForecastParameters) -> Fraction:
    """Return the worth of a test of the best quality by the proposers' numbers, in points."""
    mean = crux.mean
    return value_of_test(mean, parameters.best[crux.how]) if mean else Fraction()


def ranked(cruxes: Iterable[Crux], parameters: ForecastParameters) -> list[Crux]:
    """Return cruxes by value at the best quality, the highest first; ties by claim id, C-1-2 before C-1-10."""
    return sorted(cruxes, key=lambda crux: (-best_value(crux, parameters), by_number(crux.claim)))


def by_number(claim: str) -> tuple[tuple[int, str], ...]:
    """Return a key that orders ids by their numbers."""
    # Compared as text, C-1-10 would precede C-1-2.
    return tuple((int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", claim))


def kept(cruxes: Iterable[Crux], parameters: ForecastParameters) -> list[Crux]:
    """Return the cruxes that a run keeps, by rank; the others stay listed as unsettled."""
    return ranked(cruxes, parameters)[: parameters.limits.kept_at_most]


def wants_numbers(cruxes: Sequence[Crux], group: GroupForecast, terms: ForecastTerms) -> bool:
    """Return whether a kept crux, or all of them jointly, is worth τ at the best quality."""
    best = terms.parameters.best
    return _is_worth([(crux.mean, best[crux.how]) for crux in cruxes if crux.mean], group, terms)


def worth_testing(cruxes: Sequence[Crux], group: GroupForecast, terms: ForecastTerms) -> list[Crux]:
    """Return the kept cruxes to test: all that can be tested here if one of them, or all jointly, is worth τ here."""
    # A crux that only a person or the outside world can test is listed for the reader, not tested.
    possible = [crux for crux in cruxes if crux.mean and terms.here(crux.how) is not None]
    at_hand = [(crux.mean, terms.here(crux.how) or 0) for crux in possible if crux.mean]
    return possible if _is_worth(at_hand, group, terms) else []


def _is_worth(tests: Sequence[tuple[Numbers, int]], group: GroupForecast, terms: ForecastTerms) -> bool:
    # Single values are cheap. The joint value grows with 2^n combinations, so it is computed only when needed.
    alone = any(value_of_test(numbers, quality) >= terms.tau for numbers, quality in tests)
    return alone or (len(tests) > 1 and joint_value(group, tests) >= terms.tau)


def doubters(numbers: Mapping[str, Numbers], order: Sequence[str]) -> list[str]:
    """Return the roles with numbers about a crux, the one that doubts it most first; ties in the order of roles."""
    return sorted((role for role in order if role in numbers), key=lambda role: numbers[role].probability)


def all_expected_otherwise(numbers: Mapping[str, Numbers], holds: bool, roles: Collection[str]) -> bool:
    """Return whether every one of the roles gave numbers and found the other result more likely than this one."""
    # A probability of exactly one half expected neither result, so it never counts as surprise.
    half = WHOLE // 2
    return all(
        role in numbers and (numbers[role].probability < half if holds else numbers[role].probability > half)
        for role in roles
    )


class FrameCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Result of the frame step. `objection`: ill-posed, an option missing, or two that are the same."""

    ill_posed: bool = False
    objection: bool = False


class ForecastTable(NamedTuple):
    """Numbers of a run. `forecasts`: sealed, by role, over the options; empty where no role answered.

    `made_options`: the options were made of the answers, so proposals speak of the proposer's own answer: their value
    ranks them, and no verdict reads them.
    """

    forecasts: Mapping[str, Forecast]
    cruxes: Sequence[Crux]
    terms: ForecastTerms
    frame: FrameCheck | None = None
    made_options: bool = False


class UnsettledCrux(NamedTuple):
    """Crux without a verdict, and the value of its test in points: at the best quality, and here (None: not here)."""

    claim: str
    how: HowTested
    best: Fraction
    here: Fraction | None


class ForecastStanding(NamedTuple):
    """Standing of a run. `group`, `leader` and `margin` are None where no role answered."""

    forecasts: Mapping[str, Forecast]
    group: GroupForecast | None
    leader: int | None
    margin: Fraction | None
    unsettled: tuple[UnsettledCrux, ...]
    status: OutcomeStatus

    def worth(self, tau: Fraction) -> list[UnsettledCrux]:
        """Return unsettled cruxes that are worth a test at the best quality."""
        return [crux for crux in self.unsettled if crux.best >= tau]


class WithoutRole(NamedTuple):
    """End of the run without a role: the leader then, whether leader or status would differ, and a tie."""

    leader: int | None
    changes: bool
    even: bool


def standing_of(table: ForecastTable) -> ForecastStanding:
    """Compute the standing of a run from its sealed numbers and its verdicts."""
    forecasts = dict(_updated(table))
    group = group_forecast(forecasts.values()) if forecasts else None
    unsettled = tuple(_unsettled(table, forecasts))
    return ForecastStanding(
        forecasts,
        group,
        None if group is None else group.leader,
        None if group is None else group.margin,
        unsettled,
        _status(table, group, unsettled),
    )


def numbers_about(table: ForecastTable, crux: Crux) -> dict[str, Numbers]:
    """Return each role's numbers about a crux over the options.

    They are those sealed before the tests, else those of the role's own proposal.
    """
    return {**({} if table.made_options else crux.proposed), **crux.sealed}


def cruxes_to_test(table: ForecastTable, kept: Sequence[Crux]) -> list[Crux]:
    """Return which kept cruxes are tested, by the proposers' means, before any verdict.

    Where the options were made, the proposers' numbers over these options count: those that they sealed afterwards,
    and those of all roles where no proposer did.
    """
    if not table.forecasts:
        return []
    if table.made_options:
        sealed = [
            {role: crux.sealed[role] for role in crux.proposed if role in crux.sealed} or crux.sealed
            for crux in kept
        ]
        kept = [crux._replace(proposed=numbers) for crux, numbers in zip(kept, sealed, strict=True)]
    return worth_testing(kept, group_forecast(table.forecasts.values()), table.terms)


def _updated(table: ForecastTable) -> Iterable[tuple[str, Forecast]]:
    """Yield each role of the group with its forecast after the verdicts."""
    settled = [
        (crux.verdict, numbers)
        for crux in table.cruxes
        if crux.verdict is not None and (numbers := numbers_about(table, crux))
    ]
    qualities = table.terms.parameters.quality
    informed = [role for role in table.forecasts if all(role in numbers for _, numbers in settled)]
    # Two verdicts may have no role in common; then every role stays, moved by the verdicts that it has numbers about.
    for role in informed or table.forecasts:
        observations = [
            CruxResult(numbers[role], verdict.holds, qualities[verdict.level])
            for verdict, numbers in settled
            if role in numbers
        ]
        yield role, updated_forecast(table.forecasts[role], observations)


def _unsettled(table: ForecastTable, forecasts: Mapping[str, Forecast]) -> Iterable[UnsettledCrux]:
    """Return every crux without a verdict with its value now, by value; ties by claim id."""
    terms = table.terms

    def value(mean: Numbers | None, quality: int) -> Fraction:
        return value_of_test(mean, quality) if mean else Fraction()

    open_cruxes = [
        UnsettledCrux(
            crux.claim,
            crux.how,
            value(mean, terms.parameters.best[crux.how]),
            None if (here := terms.here(crux.how)) is None else value(mean, here),
        )
        for crux in table.cruxes
        if crux.verdict is None
        for mean in (_mean_now(table, crux, forecasts),)
    ]
    return sorted(open_cruxes, key=lambda crux: (-crux.best, by_number(crux.claim)))


def _mean_now(table: ForecastTable, crux: Crux, forecasts: Mapping[str, Forecast]) -> Numbers | None:
    """Return mean numbers about an open crux, moved along with each role's forecast; else the proposers'."""
    moved = [
        moved_numbers(numbers, table.forecasts[role], forecasts[role])
        for role, numbers in numbers_about(table, crux).items()
        if role in forecasts
    ]
    return mean_numbers(moved) if moved else crux.mean


def _status(
    table: ForecastTable, group: GroupForecast | None, unsettled: Sequence[UnsettledCrux]
) -> OutcomeStatus:
    limits = table.terms.parameters.limits
    if group is None:
        return OutcomeStatus.NOBODY_ANSWERED
    # Sums over roles are compared, not the mean, so that no rounding decides the status.
    on_none = group.sums[-1]
    if table.frame and table.frame.ill_posed and on_none >= limits.ill_posed_from * group.roles:
        # An ill-posed question needs both the frame check and forecasts that put points on `none`.
        return OutcomeStatus.ILL_POSED
    # A test that is worth its cost comes before any verdict on the margin: it could change the leader.
    if any(crux.best >= table.terms.tau for crux in unsettled):
        return OutcomeStatus.RUN_THIS_FIRST
    if group.margin < limits.margin_at_least:
        return OutcomeStatus.YOUR_CALL
    return OutcomeStatus.DECIDED


def without_each(table: ForecastTable) -> dict[str, WithoutRole]:
    """Compute the end without each role of the group: its forecast, proposals and numbers left out."""
    # Roles that left the group are not tried: without them nothing would change.
    whole = standing_of(table)
    return {role: _without(role, table, whole) for role in whole.forecasts}


def _without(role: str, table: ForecastTable, whole: ForecastStanding) -> WithoutRole:
    def others(numbers_by_role: Mapping[str, Numbers]) -> dict[str, Numbers]:
        return {name: numbers for name, numbers in numbers_by_role.items() if name != role}

    end = standing_of(
        table._replace(
            forecasts={name: points for name, points in table.forecasts.items() if name != role},
            cruxes=[
                crux._replace(proposed=others(crux.proposed), sealed=others(crux.sealed))
                for crux in table.cruxes
            ],
        )
    )
    return WithoutRole(end.leader, (end.leader, end.status) != (whole.leader, whole.status), end.margin == 0)


def short_way(
    answers: Mapping[str, Forecast],
    expected: int,
    proposals: Iterable[tuple[HowTested, Numbers]],
    frame: FrameCheck | None,
    terms: ForecastTerms,
    at_least: int,
) -> bool:
    """Return whether first answers end the run before any test.

    Everyone asked has answered with the same leader at `at_least` points or more, the frame check came and has no
    objection, and no proposal is worth τ at the best quality by its proposer's own numbers.
    """
    # The short way skips all tests, so it needs every answer and a clean frame check.
    if frame is None or frame.objection or frame.ill_posed or not answers or len(answers) < expected:
        return False
    leaders = {leader_of(forecast) for forecast in answers.values()}
    if len(leaders) > 1 or any(max(forecast) < at_least for forecast in answers.values()):
        return False
    best = terms.parameters.best
    return all(value_of_test(numbers, best[how]) < terms.tau for how, numbers in proposals)


class UnseenWays(Result, frozen=True):
    """Ways to be wrong that roles named: in all, by one role, by two, over a number of lists.

    `jackknife` and `chao2` estimate how many there are in all, so at least `estimate − distinct` more.
    """

    distinct: int
    once: int
    twice: int
    lists: int
    jackknife: float
    chao2: float


def unseen_of(sightings: Sequence[Collection[str]], lists: int) -> UnseenWays | None:
    """Estimate from the roles that found each defeater, sealed from each other; None without a list.

    First-order jackknife S + Q1·(m−1)/m (LIT-4); Chao2, bias-corrected, S + (m−1)/m · Q1(Q1−1)/(2(Q2+1)) (LIT-5).
    Both are counts. Seats of one model find the same things, so both are lower bounds at best.
    """
    if lists < 1:
        return None
    found_by = [len(set(roles)) for roles in sightings if roles]
    distinct, once, twice = len(found_by), found_by.count(1), found_by.count(2)
    share = Fraction(lists - 1, lists)
    return UnseenWays(
        distinct,
        once,
        twice,
        lists,
        jackknife=rounded(distinct + once * share),
        chao2=rounded(distinct + share * Fraction(once * (once - 1), 2 * (twice + 1))),
    )
