"""Worse rates of another tolerated one: at the same distance in log-odds, so that they stay above it and below 1."""

from __future__ import annotations

import math
from collections.abc import Sequence


def moved(grid: Sequence[float], p0: float, new: float) -> tuple[float, ...]:
    """The grid of `p0` for the tolerated share `new`; both lie between 0 and 1."""
    if new == p0:
        return tuple(grid)
    shift = _logit(new) - _logit(p0)
    return tuple(1 / (1 + math.exp(-(_logit(p1) + shift))) for p1 in grid)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
