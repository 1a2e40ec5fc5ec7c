"""Update by arithmetic: verdicts move each role's forecast by Bayes, from the numbers that it gave before them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from detectors.forecasts.points import WHOLE, Forecast, whole_points
from detectors.forecasts.value_of_tests import Numbers


class CruxResult(NamedTuple):
    """Verdict as one role reads it: its own sealed numbers, the result, and the verdict's quality in percent."""

    numbers: Numbers
    holds: bool
    quality: int


def updated_forecast(forecast: Forecast, observations: Sequence[CruxResult]) -> Forecast:
    """Return the forecast after all verdicts, from the sealed forecast: whole points that sum to 100.

    p'(o) = p(o) + Σ (q' − q)·(T(o) − F(o)), over one common denominator, clipped at 0, rounded by largest remainder.
    """
    happens = [_chance(observation) for observation in observations]
    # All verdicts share one denominator and whole numbers, so the result does not depend on their order.
    common = prod(WHOLE * chance for chance in happens)
    moved = [points * common for points in forecast]
    for observation, chance in zip(observations, happens, strict=True):
        q = observation.numbers.probability
        share = q * (WHOLE * _right(observation) - chance) * (common // (WHOLE * chance))
        moved = [
            points + share * effect for points, effect in zip(moved, observation.numbers.effects, strict=True)
        ]
    return whole_points(moved)


def _right(observation: CruxResult) -> int:
    """Return how often this result occurs if the claim is true, in percent."""
    return observation.quality if observation.holds else WHOLE - observation.quality


def _chance(observation: CruxResult) -> int:
    """Return how likely the result was by the role's numbers, in 10,000ths; at least 1 for a probability of 1 to 99."""
    q, right = observation.numbers.probability, _right(observation)
    return q * right + (WHOLE - q) * (WHOLE - right)


def moved_numbers(numbers: Numbers, before: Forecast, after: Forecast) -> Numbers:
    """Return a role's numbers about an open crux, both forecasts moved by what moved its own; q stays."""
    change = [new - old for old, new in zip(before, after, strict=True)]
    return numbers._replace(
        if_true=whole_points([points + by for points, by in zip(numbers.if_true, change, strict=True)]),
        if_false=whole_points([points + by for points, by in zip(numbers.if_false, change, strict=True)]),
    )
