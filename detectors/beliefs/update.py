"""What a result does to beliefs: each role's own numbers, conditioned by Bayes, and who is to be asked again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from detectors.beliefs.parameters import CruxParameters
from detectors.beliefs.pool import WHOLE, Points, apart, by_largest_remainder, scaled
from detectors.beliefs.values import Conditional, posterior

CruxResult = Literal["holds", "fails", "partly", "inconclusive", "flaky", "error"]
Predicted = Literal["holds", "fails"]


class Verdict(NamedTuple):
    """A result that is one way or the other, about a crux that the role gave numbers for; `quality` is s = t."""

    given: Conditional
    holds: bool
    quality: Fraction


def derived(belief: Points, verdicts: Sequence[Verdict]) -> Points:
    """The belief after the verdicts: whole points that sum to 100 (LIT-6 for the rounding).

    p'(o) = p(o) + Σ (q' − q)·(T(o) − F(o)), the difference of the two mixtures, clipped at 0 and scaled to 100.
    """
    moved = list(belief)
    for given, holds, quality in verdicts:
        share = (posterior(given.q, holds, quality) - given.q) / WHOLE
        moved = [value + share * effect for value, effect in zip(moved, given.effects, strict=True)]
    return tuple(Fraction(points) for points in by_largest_remainder(moved))


def surprised(
    before: Points,
    after: Points,
    predictions: Mapping[str, Predicted],
    results: Mapping[str, CruxResult],
    parameters: CruxParameters,
) -> bool:
    """Whether the role is asked for a belief of its own: it moved by 10 points or more, or predicted wrongly.

    `predictions` and `results` are by claim. A result that is neither way makes no prediction wrong.
    """
    wrong = any(
        results.get(claim) in ("holds", "fails") and results[claim] != predicted
        for claim, predicted in predictions.items()
    )
    return wrong or apart(before, after) >= parameters.update.surprised_from


def unexplained(own: Points, mechanical: Points, *, new_evidence: bool, parameters: CruxParameters) -> bool:
    """Whether the role's own belief is more than 15 points from the derived one without citing what it never cited."""
    return not new_evidence and apart(own, mechanical) > parameters.update.unexplained_above


def shifted(given: Conditional, before: Points, after: Points) -> Conditional:
    """A role's numbers about a crux that stays open, moved along with its belief: T and F by p' − p, q unchanged.

    Both are clipped at 0 and scaled to 100 points.
    """
    change = [new - old for old, new in zip(before, after, strict=True)]
    return Conditional(given.q, _moved(given.if_true, change), _moved(given.if_false, change))


def _moved(points: Points, change: Iterable[Fraction]) -> Points:
    return scaled([value + by for value, by in zip(points, change, strict=True)])
