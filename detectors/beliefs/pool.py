"""Group forecast of sealed answers: the mean, who leads, and by how much.

A belief is `Points`: one fraction for each option in option order, `none` last, 0 or more, 100 together. Nothing here
rounds; what is printed is rounded where it is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

Points = tuple[Fraction, ...]
"""Points of one belief, in option order with `none` last; they sum to 100."""
ByRole = Mapping[str, Points]
"""The latest belief of every role that is in the pool."""


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
