"""Value of a test: expected value of sample information (EVSI) of one crux, and of several together.

A verdict of quality s says "holds" of a true claim, and "fails" of a false one, with probability s percent. Values are
points of probability of choosing right, 0 to 100, exact. A test is worth 0 unless some result would change the choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from detectors.forecasts.points import WHOLE, Forecast, GroupForecast


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
