"""What several judges of one debate come to: scores made comparable, a weighted vote, and whether they agree (XS-19).

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
"""The least alpha from which tentative conclusions are usually drawn."""
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
        """Whether there is a result at all."""
        return self.winner is not None


def panel_result(judges: Sequence[Judged], sides: Mapping[str, str], seed: int) -> PanelResult:
    """The panel's result; `sides` is argument → side. `seed` draws the bootstrap's samples."""
    winner, votes, value = weighed(judges, sides)
    return PanelResult(winner, votes, value, bootstrap(_units(judges, sides), seed))


def weighed(
    judges: Sequence[Judged], sides: Mapping[str, str]
) -> tuple[str | None, dict[str, int], float | None]:
    """Return the panel's winner, the weighted votes and alpha, without the interval, which costs most of the work."""
    votes = dict.fromkeys(sorted(set(sides.values())), 0)
    for judge in judges:
        preferred = _preferred(judge.totals, sides)
        if preferred is not None:
            votes[preferred] += judge.confidence
    value = alpha(_units(judges, sides))
    best = max(votes.values(), default=0)
    leaders = [side for side, weight in votes.items() if weight == best]
    agrees = value is not None and value >= ALPHA_LEAST
    winner = leaders[0] if agrees and len(leaders) == 1 and best > 0 else None
    return winner, votes, value


def _units(judges: Sequence[Judged], sides: Mapping[str, str]) -> list[list[float]]:
    """What the judges gave each argument."""
    return [[judge.totals[one] for judge in judges if one in judge.totals] for one in sides]


def _preferred(totals: Mapping[str, float], sides: Mapping[str, str]) -> str | None:
    # A ledger from outside may score an argument that nobody made.
    totals = {argument: total for argument, total in totals.items() if argument in sides}
    if not totals:
        return None
    mean, deviation = fmean(totals.values()), pstdev(totals.values())
    if deviation == 0:
        return None
    normal = {one: (total - mean) / deviation for one, total in totals.items()}
    means = {
        side: fmean(normal[one] for one in normal if sides[one] == side)
        for side in {sides[one] for one in normal}
    }
    best = max(means.values())
    leaders = [side for side, value in means.items() if value == best]
    return leaders[0] if len(leaders) == 1 else None


def alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha for interval data; a unit is what several judges gave one argument.

    1 is perfect agreement, 0 what chance gives. None when nothing was judged twice or all scores are the same.
    """
    paired = [unit for unit in units if len(unit) > 1]
    values = [value for unit in paired for value in unit]
    if len(values) < 2:
        return None
    expected = sum((a - b) ** 2 for a, b in permutations(values, 2)) / (len(values) - 1)
    if expected == 0:
        return None
    observed = sum(sum((a - b) ** 2 for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in paired)
    return 1 - observed / expected


def bootstrap(units: Sequence[Sequence[float]], seed: int) -> tuple[float, float] | None:
    """The 95 % interval of alpha over arguments drawn again with replacement."""
    draw = random.Random(seed)
    found = sorted(
        value
        for value in (alpha(draw.choices(units, k=len(units))) for _ in range(RESAMPLES))
        if value is not None
    )
    if not found:
        return None
    tail = (1 - SHARE_IN_INTERVAL) / 2
    last = len(found) - 1
    return found[round(tail * last)], found[round((1 - tail) * last)]
