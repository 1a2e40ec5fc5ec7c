"""Result of several judges of one debate: comparable scores, a weighted vote, and their agreement (XS-19).

Each judge's scores are normalised by that judge's mean and deviation, each judge votes for the side that scores better
so, weighted by confidence, and Krippendorff's alpha over the raw scores says whether the panel measures one thing.
Below `ALPHA_LEAST` there is no determination. The published original gives no formulas: these are our own choice.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import permutations
from statistics import fmean, pstdev
from typing import Final, NamedTuple

ALPHA_LEAST: Final = 0.667
"""Lowest alpha from which tentative conclusions are usually drawn."""
RESAMPLES: Final = 1_000
SHARE_IN_INTERVAL: Final = 0.95


class Judged(NamedTuple):
    """One judge's totals by argument, and confidence from 1 to 5."""

    totals: Mapping[str, float]
    confidence: int


class PanelResult(NamedTuple):
    """The side that the weighted vote prefers, None when it is tied or the judges do not agree."""

    winner: str | None
    votes: Mapping[str, int]
    alpha: float | None
    interval: tuple[float, float] | None

    @property
    def is_determined(self) -> bool:
        """Return whether there is a result at all."""
        return self.winner is not None


def panel_result(judges: Sequence[Judged], sides: Mapping[str, str], seed: int) -> PanelResult:
    """Return the panel's result; `sides` maps argument to side, `seed` draws the samples of the bootstrap."""
    winner, votes, value = weighed(judges, sides)
    return PanelResult(winner, votes, value, bootstrap(_units(judges, sides), seed))


def weighed(
    judges: Sequence[Judged], sides: Mapping[str, str]
) -> tuple[str | None, dict[str, int], float | None]:
    """Return the panel's winner, the weighted votes and alpha, without the interval, which costs most of the work."""
    votes = dict.fromkeys(sorted(set(sides.values())), 0)
    for judge in judges:
        preferred = _preferred(judge.totals, sides)
        # A judge who scores both sides alike has no preference, and casts no vote rather than half of one.
        if preferred is not None:
            votes[preferred] += judge.confidence
    value = alpha(_units(judges, sides))
    best = max(votes.values(), default=0)
    leaders = [side for side, weight in votes.items() if weight == best]
    # Judges who measure different things have no common result, whatever the vote says.
    agrees = value is not None and value >= ALPHA_LEAST
    winner = leaders[0] if agrees and len(leaders) == 1 and best > 0 else None
    return winner, votes, value


def _units(judges: Sequence[Judged], sides: Mapping[str, str]) -> list[list[float]]:
    """Return the judges' totals of each argument."""
    return [[judge.totals[argument] for judge in judges if argument in judge.totals] for argument in sides]


def _preferred(totals: Mapping[str, float], sides: Mapping[str, str]) -> str | None:
    # A ledger from outside may score an argument that does not exist on it.
    totals = {argument: total for argument, total in totals.items() if argument in sides}
    if not totals:
        return None
    mean, deviation = fmean(totals.values()), pstdev(totals.values())
    # All arguments alike: there is nothing to normalize, and a division by zero would follow.
    if deviation == 0:
        return None
    # Judges use the scale differently; after this a strict judge and a generous one count the same.
    normal = {argument: (total - mean) / deviation for argument, total in totals.items()}
    means = {
        side: fmean(normal[argument] for argument in normal if sides[argument] == side)
        for side in {sides[argument] for argument in normal}
    }
    best = max(means.values())
    leaders = [side for side, value in means.items() if value == best]
    return leaders[0] if len(leaders) == 1 else None


def alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Return Krippendorff's alpha for interval data; a unit holds the scores that several judges gave one argument.

    1 is perfect agreement, 0 the agreement of chance. None when no argument was judged twice or all scores are equal.
    """
    # A score without a second judge says nothing about agreement.
    paired = [unit for unit in units if len(unit) > 1]
    values = [value for unit in paired for value in unit]
    if len(values) < 2:
        return None
    expected = sum((a - b) ** 2 for a, b in permutations(values, 2)) / (len(values) - 1)
    # Without any difference between scores alpha is 0 divided by 0, and undefined.
    if expected == 0:
        return None
    observed = sum(sum((a - b) ** 2 for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in paired)
    return 1 - observed / expected


def bootstrap(units: Sequence[Sequence[float]], seed: int) -> tuple[float, float] | None:
    """Return the 95 % interval of alpha over arguments drawn again with replacement."""
    # A generator of its own with the run's seed: re-execution must give the same interval.
    draw = random.Random(seed)
    alphas = sorted(
        value
        for value in (alpha(draw.choices(units, k=len(units))) for _ in range(RESAMPLES))
        # A sample can draw one argument only, for which alpha is undefined.
        if value is not None
    )
    if not alphas:
        return None
    tail = (1 - SHARE_IN_INTERVAL) / 2
    last = len(alphas) - 1
    return alphas[round(tail * last)], alphas[round((1 - tail) * last)]
