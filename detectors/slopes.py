"""Least-squares slopes: once as floats, for the published script, once exact, for everybody else."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def exact_slope(points: Sequence[tuple[int, int]]) -> Fraction:
    """The slope of the regression line through `points`, two or more with different x."""
    return exact_slopes(points)[-1]


def exact_slopes(points: Sequence[tuple[int, int]]) -> list[Fraction]:
    """The slope after every point from the second on; x must not repeat. One pass."""
    slopes: list[Fraction] = []
    sum_x = sum_y = sum_xy = sum_xx = 0
    for count, (x, y) in enumerate(points, start=1):
        sum_x, sum_y, sum_xy, sum_xx = sum_x + x, sum_y + y, sum_xy + x * y, sum_xx + x * x
        if count > 1:
            slopes.append(Fraction(count * sum_xy - sum_x * sum_y, count * sum_xx - sum_x * sum_x))
    return slopes


def float_slope(points: Sequence[tuple[int, int]]) -> float:
    """The same in floating point, centred on the means, added from left to right.

    Where the exact slope is −1/5 the rounding of these very operations decides whether the published script calls
    it at least −0.2, so their order is part of the profile. The builtin `sum` adds like this up to Python 3.11 and
    compensates from 3.12 on; a recorded verdict must not hang on the interpreter that computes it again.
    """
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    covariance = variance = 0.0
    for x, y in points:
        covariance += (x - mean_x) * (y - mean_y)
        variance += (x - mean_x) ** 2
    return covariance / variance
