"""Points of forecasts: the mean over roles, the leader and its margin, and rounding to whole points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

Forecast = tuple[int, ...]
"""Whole points in option order, `none` last, 0 or more; they sum to 100."""
WHOLE: Final = 100


class GroupForecast(NamedTuple):
    """Mean of forecasts: the sum of points for each option, over a number of roles."""

    sums: tuple[int, ...]
    roles: int

    @property
    def leader(self) -> int:
        """Return the place of the option with most points. Ties go to the first in option order, so `none` never wins
        one.
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
