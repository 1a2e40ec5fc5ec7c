"""Intervals for shares and for differences between two rules on the same worlds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

Z: Final = 1.959964
STEPS: Final = 50


class Interval(NamedTuple):
    """A figure in percent, or in percentage points, with the bounds of its 95 % interval."""

    figure: float
    low: float
    high: float


def share(right: Sequence[bool]) -> Interval:
    """Return the share of right answers with its score interval (LIT-9)."""
    n, p = len(right), sum(right) / len(right)
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return Interval(100 * p, 100 * (middle - half), 100 * (middle + half))


def difference(rule: Sequence[bool], other: Sequence[bool]) -> Interval:
    """Return how many more are right by the rule than by the other, over pairs.

    The interval is exact in the manner of McNemar's test: given the worlds in which only one of the two is right, the
    number that the rule wins is binomial, and its bounds are Clopper and Pearson's.
    """
    pairs = list(zip(rule, other, strict=True))
    won, lost = (
        sum(mine and not theirs for mine, theirs in pairs),
        sum(theirs and not mine for mine, theirs in pairs),
    )
    differing = won + lost
    scale = 100 * differing / len(pairs)
    low, high = (2 * bound - 1 for bound in _clopper_pearson(won, differing))
    # Adding zero turns a negative zero into zero.
    return Interval(100 * (won - lost) / len(pairs), scale * low + 0.0, scale * high + 0.0)


def _clopper_pearson(k: int, n: int) -> tuple[float, float]:
    if n == 0:
        return 0.0, 1.0
    low = 0.0 if k == 0 else _root(lambda p: _at_least(k, n, p) - 0.025)
    high = 1.0 if k == n else _root(lambda p: 0.025 - (1 - _at_least(k + 1, n, p)))
    return low, high


def _root(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2


def _at_least(k: int, n: int, p: float) -> float:
    """Return the probability of at least k of n, each with probability p."""
    if p in (0.0, 1.0):
        return float(p == 1.0 or k <= 0)
    logs = (
        math.lgamma(n + 1)
        - math.lgamma(i + 1)
        - math.lgamma(n - i + 1)
        + i * math.log(p)
        + (n - i) * math.log1p(-p)
        for i in range(k, n + 1)
    )
    return min(1.0, sum(math.exp(value) for value in logs))
