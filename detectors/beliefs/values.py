"""What a test would be worth: expected value of sample information, of one crux and of several together.

A verdict of quality (s, t) says "holds" of a true claim with probability s and "fails" of a false one with probability
t. Values are points of probability of choosing right, 0 … 100, and exact. A value is 0 unless some result would
change the choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Final, Literal, NamedTuple

from detectors.beliefs.pool import WHOLE, Points, mean_of, scaled

Direction = Literal["for", "against"]
MAX_TOGETHER: Final = 12
"""Open cruxes that can be valued together: 4,096 combinations of results. A run has 5 at most."""


class Conditional(NamedTuple):
    """What a role, or the mean of several, believes about a crux.

    `q`: points that it is true, 1 … 99. `if_true`, `if_false`: the belief over the options then.
    """

    q: Fraction
    if_true: Points
    if_false: Points

    @property
    def mixture(self) -> Points:
        """q·T + (1−q)·F, in points."""
        q = self.q / WHOLE
        return tuple(q * t + (1 - q) * f for t, f in zip(self.if_true, self.if_false, strict=True))

    @property
    def effects(self) -> Points:
        """T − F for each option, in points −100 … 100."""
        return tuple(t - f for t, f in zip(self.if_true, self.if_false, strict=True))

    @property
    def negated(self) -> Conditional:
        """The same about the opposite claim."""
        return Conditional(WHOLE - self.q, self.if_false, self.if_true)


class CruxMove(NamedTuple):
    """Which option a crux moves most (its place in option order), where to, and by how many points."""

    option: int
    direction: Direction
    points: Fraction


def mean_conditional(given: Iterable[Conditional]) -> Conditional:
    """The means over roles of q, T and F, each by itself, in points (LIT-1). Raises `ValueError` without any."""
    all_given = list(given)
    (q,) = mean_of((one.q,) for one in all_given)
    return Conditional(
        q, mean_of(one.if_true for one in all_given), mean_of(one.if_false for one in all_given)
    )


def moves_of(given: Conditional) -> CruxMove:
    """The option with the greatest |T − F|, ties in option order; `for` where the claim's truth raises it."""
    effects = given.effects
    sizes = [abs(effect) for effect in effects]
    option = sizes.index(max(sizes))
    return CruxMove(option, "for" if effects[option] > 0 else "against", sizes[option])


def incoherence(given: Conditional, belief: Points) -> Points:
    """q·T + (1−q)·F − p for each option, in points −100 … 100: what the role's numbers contradict each other by."""
    return tuple(mixed - own for mixed, own in zip(given.mixture, belief, strict=True))


def evsi(given: Conditional, s: Fraction, t: Fraction | None = None) -> Fraction:
    """The expected value of sample information, in points, 0 or more (LIT-2, LIT-3); t = s where it is not given.

    100·(P(+)·max P(o|+) + P(−)·max P(o|−) − max P(o)), with P(o) = q·T(o) + (1−q)·F(o); multiplied out, so that no
    result needs to be possible. A better test is never worth less (LIT-7).
    """
    t = s if t is None else t
    q = given.q / WHOLE
    pairs = list(zip(given.if_true, given.if_false, strict=True))
    plus = max(q * s * true + (1 - q) * (1 - t) * false for true, false in pairs)
    minus = max(q * (1 - s) * true + (1 - q) * t * false for true, false in pairs)
    return plus + minus - max(q * true + (1 - q) * false for true, false in pairs)


def chance_of_plus(q: Fraction, s: Fraction, t: Fraction | None = None) -> Fraction:
    """P(+) = q·s + (1−q)·(1−t), as a share 0 … 1, of a q in points."""
    t = s if t is None else t
    return q / WHOLE * s + (1 - q / WHOLE) * (1 - t)


def posterior(q: Fraction, holds: bool, s: Fraction, t: Fraction | None = None) -> Fraction:
    """q after a verdict, in points, by Bayes; unchanged after a verdict that q calls impossible."""
    t = s if t is None else t
    plus = chance_of_plus(q, s, t)
    happened, of_true = (plus, s) if holds else (1 - plus, 1 - s)
    return q * of_true / happened if happened else q


def joint_value(pool: Points, cruxes: Sequence[tuple[Conditional, Fraction]]) -> Fraction | None:
    """What all these tests are worth together, in points, 0 or more; None without any (LIT-2).

    Each crux comes with its quality; results are independent. For every combination of results x(o) is the pool plus
    the effects (q' − q)·(T − F) of each, clipped at 0 and scaled to 100; the value is Σ P·max x − max Σ P·x, both
    expectations over the same vectors. Raises `ValueError` above `MAX_TOGETHER` cruxes.
    """
    if not cruxes:
        return None
    if len(cruxes) > MAX_TOGETHER:
        raise ValueError(f"{len(cruxes)} open cruxes: at most {MAX_TOGETHER} are valued together")
    results = [_results(given, quality) for given, quality in cruxes]
    best = Fraction()
    expected = [Fraction()] * len(pool)
    for combination in product(*results):
        chance = Fraction(1)
        after = list(pool)
        for probability, effects in combination:
            chance *= probability
            after = [value + effect for value, effect in zip(after, effects, strict=True)]
        x = scaled(after)
        best += chance * max(x)
        expected = [sum_ + chance * value for sum_, value in zip(expected, x, strict=True)]
    return best - max(expected)


def _results(given: Conditional, quality: Fraction) -> list[tuple[Fraction, Points]]:
    """Probability of each result of a test, and what it would add to every option."""
    plus = chance_of_plus(given.q, quality)
    shares = [(posterior(given.q, holds, quality) - given.q) / WHOLE for holds in (True, False)]
    return [
        (chance, tuple(share * one for one in given.effects))
        for chance, share in zip((plus, 1 - plus), shares, strict=True)
    ]
