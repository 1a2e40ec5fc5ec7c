"""Beliefs and their pool: the mean, who leads, by how much, how far it moved and how noisy a seat is.

A belief is `Points`: one fraction for each option in option order, `none` last, 0 or more, 100 together. Nothing here
rounds; what is printed is rounded where it is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

Points = tuple[Fraction, ...]
"""Points of one belief, in option order with `none` last; they sum to 100."""
ByRole = Mapping[str, Points]
"""The latest belief of every role that is in the pool."""
WHOLE: Final = Fraction(100)


def mean_of(beliefs: Iterable[Points]) -> Points:
    """The mean of one or more beliefs, in points: a linear pool with equal weights (LIT-1).

    Nothing is made more extreme: seats of one model are correlated, and agreement among them is no second witness.
    Raises `ValueError` when there is no belief.
    """
    given = list(beliefs)
    if not given:
        raise ValueError("there is no belief to pool")
    return tuple(sum(column, Fraction()) / len(given) for column in zip(*given, strict=True))


def leader_of(points: Sequence[Fraction]) -> int:
    """The place of the option with most points; ties go to the first in option order, so `none` wins none of them."""
    return points.index(max(points))


def margin_of(points: Sequence[Fraction]) -> Fraction:
    """Leader minus second in points, `none` counted; the leader's own points where there is no second."""
    first, *others = sorted(points, reverse=True)
    return first - others[0] if others else first


def spread_of(beliefs: ByRole, option: int) -> tuple[Fraction, Fraction]:
    """The least and the greatest belief in the option, in points over roles. Raises `ValueError` for an empty pool."""
    named = [points[option] for points in beliefs.values()]
    return min(named), max(named)


def apart(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """Half the sum of absolute differences: the points that would have to be moved, 0 … 100 (total variation)."""
    return sum((abs(a - b) for a, b in zip(one, other, strict=True)), Fraction()) / 2


def movement_of(before: ByRole, after: ByRole) -> Fraction | None:
    """The mean, over the roles that are in both pools, of how far each moved, in points; None where there is none.

    Of roles and not of the pool: two that change places would leave the pool where it was.
    """
    both = [apart(points, after[role]) for role, points in before.items() if role in after]
    return sum(both, Fraction()) / len(both) if both else None


def noise_of(first: Points, redrawn: Points) -> Fraction:
    """ν: how far two first answers of one role in fresh contexts are apart, in points. Less is noise."""
    return apart(first, redrawn)


def by_largest_remainder(points: Sequence[Fraction], whole: int = 100) -> tuple[int, ...]:
    """Integers that sum to `whole`, in proportion to `points`: floors, then the largest remainders (LIT-6).

    Points below 0 count as 0; ties go in option order. Raises `ValueError` when nothing is above 0.
    """
    clipped = [max(value, Fraction()) for value in points]
    total = sum(clipped, Fraction())
    if not total:
        raise ValueError("no points are above 0")
    exact = [value * whole / total for value in clipped]
    floors = [int(value) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: floors[place] - exact[place])
    for place in by_remainder[: whole - sum(floors)]:
        floors[place] += 1
    return tuple(floors)


def scaled(points: Sequence[Fraction]) -> Points:
    """The same clipped at 0 and scaled to 100 points, exactly. Raises `ValueError` when nothing is above 0."""
    clipped = [max(value, Fraction()) for value in points]
    total = sum(clipped, Fraction())
    if not total:
        raise ValueError("no points are above 0")
    return tuple(value * WHOLE / total for value in clipped)
