"""Arithmetic of forecasts over whole points: the group, the update by verdicts, and the value of a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from itertools import product
from math import prod
from typing import Final, NamedTuple

Forecast = tuple[int, ...]
"""Whole points in option order, `none` last, 0 or more; they sum to 100."""
WHOLE: Final = 100


def decimal_text(value: Fraction, digits: int = 4) -> str:
    """Return a decimal string of so many digits, rounded half to even: the same in every implementation."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_EVEN):f}"


def rounded(value: Fraction) -> float:
    """Return two decimals, half-even, of an exact value."""
    return float(round(value, 2))


class GroupForecast(NamedTuple):
    """Mean of forecasts: the sum of points for each option, over a number of roles."""

    sums: tuple[int, ...]
    roles: int

    @property
    def leader(self) -> int:
        """Return the place of the option with most points.

        Ties go to the first in option order, so `none` never wins one.
        """
        return self.sums.index(max(self.sums))

    @property
    def margin(self) -> Fraction:
        """Return the points between the leader and the second option, `none` included."""
        first, *others = sorted(self.sums, reverse=True)
        return Fraction(first - (others[0] if others else 0), self.roles)

    def points(self, option: int) -> Fraction:
        """Return the mean points of an option, exact."""
        return Fraction(self.sums[option], self.roles)


def group_forecast(forecasts: Iterable[Forecast]) -> GroupForecast:
    """Return the mean with equal weights (LIT-1). Raises `ValueError` without a forecast.

    Nothing is made more extreme: roles played by one model are correlated, so agreement adds little evidence.
    """
    listed = list(forecasts)
    if not listed:
        raise ValueError("a group forecast needs at least one forecast")
    return GroupForecast(tuple(map(sum, zip(*listed, strict=True))), len(listed))


def leader_of(forecast: Forecast) -> int:
    """Return the place of the option with most points, ties in option order."""
    return forecast.index(max(forecast))


def distance_to(forecast: Forecast, group: GroupForecast) -> int:
    """Return how far a role is from the group, in units of 1 / (2 × roles) points; comparable within one group."""
    pairs = zip(forecast, group.sums, strict=True)
    return sum(abs(points * group.roles - mean) for points, mean in pairs)


def points_of(points: Mapping[str, int], options: Sequence[str]) -> Forecast:
    """Return points in option order."""
    # Options without points are left out by models; they count as zero rather than as unknown.
    return tuple(points.get(option, 0) for option in options)


def whole_points(shares: Sequence[int], whole: int = WHOLE) -> Forecast:
    """Return whole points in proportion to `shares`: floors first, then the largest remainders (LIT-6).

    Shares below 0 count as 0; ties go in option order. Raises `ValueError` when no share is above 0.
    """
    # A linear update can push an option below 0, which then counts as 0.
    clipped = [max(share, 0) for share in shares]
    total = sum(clipped)
    if not total:
        raise ValueError("no share is above 0")
    points = [share * whole // total for share in clipped]
    remainders = [share * whole % total for share in clipped]
    # `sorted` is stable, which gives ties in option order without a second key.
    by_remainder = sorted(range(len(points)), key=lambda place: -remainders[place])
    for place in by_remainder[: whole - sum(points)]:
        points[place] += 1
    return tuple(points)


class Numbers(NamedTuple):
    """Numbers about a crux: its probability, and the forecast if it is true and if it is false.

    One role's numbers are whole points, the probability 1 to 99. A mean keeps the sums over `roles`.
    """

    probability: int
    if_true: Forecast
    if_false: Forecast
    roles: int = 1

    @property
    def effects(self) -> tuple[int, ...]:
        """Return forecast if true minus forecast if false, for each option."""
        return tuple(true - false for true, false in zip(self.if_true, self.if_false, strict=True))

    @property
    def negated(self) -> Numbers:
        """Return the same numbers about the opposite claim."""
        return self._replace(
            probability=WHOLE * self.roles - self.probability, if_true=self.if_false, if_false=self.if_true
        )


def mean_numbers(of_roles: Iterable[Numbers]) -> Numbers:
    """Return the mean over roles of probability and both forecasts. Raises `ValueError` without any."""
    numbers = list(of_roles)
    if not numbers:
        raise ValueError("mean numbers need at least one role")
    return Numbers(
        sum(own.probability for own in numbers),
        tuple(map(sum, zip(*(own.if_true for own in numbers), strict=True))),
        tuple(map(sum, zip(*(own.if_false for own in numbers), strict=True))),
        len(numbers),
    )


def incoherence(numbers: Numbers, forecast: Forecast) -> tuple[Fraction, ...]:
    """Return, for each option, the points by which one role's numbers contradict its forecast: q·T + (1−q)·F − p."""
    q = numbers.probability
    return tuple(
        Fraction(q * true + (WHOLE - q) * false, WHOLE) - points
        for true, false, points in zip(numbers.if_true, numbers.if_false, forecast, strict=True)
    )


def value_of_test(numbers: Numbers, quality: int) -> Fraction:
    """Return the value of a test in points: Σ over results of the best choice then, minus the best choice now (LIT-2).

    100·(P(+)·max P(o|+) + P(−)·max P(o|−) − max P(o)), multiplied out over the denominator 10,000·roles², so that no
    result needs to be possible. A better test is never worth less (LIT-7).
    """
    whole = WHOLE * numbers.roles
    q, s = numbers.probability, quality
    pairs = list(zip(numbers.if_true, numbers.if_false, strict=True))
    holds = max(q * s * true + (whole - q) * (WHOLE - s) * false for true, false in pairs)
    fails = max(q * (WHOLE - s) * true + (whole - q) * s * false for true, false in pairs)
    now = max(WHOLE * (q * true + (whole - q) * false) for true, false in pairs)
    return Fraction(holds + fails - now, WHOLE * whole * numbers.roles)


def joint_value(group: GroupForecast, tests: Sequence[tuple[Numbers, int]]) -> Fraction:
    """Return what these tests are worth together, in points; each comes with its quality, results are independent.

    For every combination of results, x is the group forecast plus (q' − q)·(T − F) of each test, clipped at 0 and
    scaled to 100. The value is Σ P·max x − max Σ P·x. It decides whether to test, and nothing else reads it.
    """
    results = [_results(numbers, quality) for numbers, quality in tests]
    best = Fraction()
    expected = [Fraction()] * len(group.sums)
    for combination in product(*results):
        chance = Fraction(1)
        after = [group.points(option) for option in range(len(group.sums))]
        for probability, moves in combination:
            chance *= probability
            after = [points + move for points, move in zip(after, moves, strict=True)]
        # Several tests together may push an option below 0, which no forecast allows.
        clipped = [max(points, Fraction()) for points in after]
        scale = WHOLE * chance / sum(clipped)
        weighted = [points * scale for points in clipped]
        best += max(weighted)
        # The choice now is compared over the same clipped results, so that no value is negative.
        expected = [total + points for total, points in zip(expected, weighted, strict=True)]
    return best - max(expected)


def _results(numbers: Numbers, quality: int) -> list[tuple[Fraction, list[Fraction]]]:
    """Return the probability of each result of a test, and the points that it adds to every option."""
    whole = WHOLE * numbers.roles
    q = numbers.probability
    outcomes: list[tuple[Fraction, list[Fraction]]] = []
    for right in (quality, WHOLE - quality):
        happens = q * right + (whole - q) * (WHOLE - right)
        # A perfect test of a certain claim has an impossible result, which would divide by zero.
        if happens:
            share = Fraction(q * right, happens) - Fraction(q, whole)
            outcomes.append(
                (
                    Fraction(happens, WHOLE * whole),
                    [share * effect / numbers.roles for effect in numbers.effects],
                )
            )
    return outcomes


class CruxResult(NamedTuple):
    """Verdict as one role reads it: its own sealed numbers, the result, and the verdict's quality in percent."""

    numbers: Numbers
    holds: bool
    quality: int


def updated_forecast(forecast: Forecast, observations: Sequence[CruxResult]) -> Forecast:
    """Return the forecast after all verdicts, from the sealed forecast: whole points that sum to 100.

    p'(o) = p(o) + Σ (q' − q)·(T(o) − F(o)), over one common denominator, clipped at 0, rounded by largest remainder.
    """
    happens = [_chance(observation) for observation in observations]
    # All verdicts share one denominator and whole numbers, so the result does not depend on their order.
    common = prod(WHOLE * chance for chance in happens)
    moved = [points * common for points in forecast]
    for observation, chance in zip(observations, happens, strict=True):
        q = observation.numbers.probability
        share = q * (WHOLE * _right(observation) - chance) * (common // (WHOLE * chance))
        moved = [
            points + share * effect for points, effect in zip(moved, observation.numbers.effects, strict=True)
        ]
    return whole_points(moved)


def _right(observation: CruxResult) -> int:
    """Return how often this result occurs if the claim is true, in percent."""
    return observation.quality if observation.holds else WHOLE - observation.quality


def _chance(observation: CruxResult) -> int:
    """Return how likely the result was by the role's numbers, in 10,000ths; at least 1 for a probability of 1 to 99."""
    q, right = observation.numbers.probability, _right(observation)
    return q * right + (WHOLE - q) * (WHOLE - right)


def moved_numbers(numbers: Numbers, before: Forecast, after: Forecast) -> Numbers:
    """Return a role's numbers about an open crux, both forecasts moved by what moved its own; q stays."""
    change = [new - old for old, new in zip(before, after, strict=True)]
    return numbers._replace(
        if_true=whole_points([points + by for points, by in zip(numbers.if_true, change, strict=True)]),
        if_false=whole_points([points + by for points, by in zip(numbers.if_false, change, strict=True)]),
    )
