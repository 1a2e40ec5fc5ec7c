"""Intervals for shares and for differences between two rules on the same worlds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

Z: Final = 1.959964


class Interval(NamedTuple):
    """Figure in percent or percentage points, with its 95 % interval."""

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
    """Return the paired difference in right answers between two rules, in percentage points.

    The interval is that of Agresti and Min (2005) for matched pairs: half a pair is added to each of the four cells.
    It is also valid if one of the two always wins, and if they never differ.
    """
    pairs = list(zip(rule, other, strict=True))
    won = sum(mine and not theirs for mine, theirs in pairs)
    lost = sum(theirs and not mine for mine, theirs in pairs)
    n, more, fewer = len(pairs) + 2, won + 0.5, lost + 0.5
    middle = (more - fewer) / n
    half = Z * math.sqrt(more + fewer - (more - fewer) ** 2 / n) / n
    return Interval(100 * (won - lost) / len(pairs), 100 * (middle - half), 100 * (middle + half))
