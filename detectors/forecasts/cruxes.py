"""Choice of cruxes: what each is worth, which are kept, which are tested here, and who doubts one most."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, get_args

from detectors.forecasts.points import WHOLE, GroupForecast
from detectors.forecasts.value_of_tests import Numbers, joint_value, mean_numbers, value_of_test
from detectors.parameters import ForecastParameters, ForecastTerms, Level
from ledger.events.values import HowTested


class Verdict(NamedTuple):
    """Result that is one way or the other, and the level of its evidence."""

    holds: bool
    level: Level


class Crux(NamedTuple):
    """Crux of the agenda: its proposers' numbers, the numbers of all roles if asked, and its verdicts in order.

    Each role's numbers are about the crux as the agenda words it; a proposal of the opposite is turned round first.
    """

    claim: str
    how: HowTested
    proposed: Mapping[str, Numbers]
    sealed: Mapping[str, Numbers] = {}
    verdicts: tuple[Verdict, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict that counts: the highest level, among equals the later one."""
        order: Sequence[Level] = get_args(Level)
        # `min` keeps the first of equals, so the reversed order prefers the later verdict.
        return min(reversed(self.verdicts), key=lambda verdict: order.index(verdict.level), default=None)

    @property
    def mean(self) -> Numbers | None:
        """Return the proposers' mean, by which cruxes are ranked and tested; None without a proposer's numbers."""
        return mean_numbers(self.proposed.values()) if self.proposed else None


def best_value(crux: Crux, parameters: ForecastParameters) -> Fraction:
    """Return the worth of a test of the best quality by the proposers' numbers, in points."""
    return value_of_test(crux.mean, parameters.best[crux.how]) if crux.mean else Fraction()


def ranked(cruxes: Iterable[Crux], parameters: ForecastParameters) -> list[Crux]:
    """Return cruxes by value at the best quality, the highest first; ties by claim id, C-1-2 before C-1-10."""
    return sorted(cruxes, key=lambda crux: (-best_value(crux, parameters), by_number(crux.claim)))


def by_number(claim: str) -> tuple[tuple[int, str], ...]:
    """Return a key that orders ids by their numbers."""
    # Compared as text, C-1-10 would precede C-1-2.
    return tuple((int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", claim))


def kept(cruxes: Iterable[Crux], parameters: ForecastParameters) -> list[Crux]:
    """Return the cruxes that a run keeps, by rank; the others stay listed as unsettled."""
    return ranked(cruxes, parameters)[: parameters.limits.kept_at_most]


def wants_numbers(cruxes: Sequence[Crux], group: GroupForecast, terms: ForecastTerms) -> bool:
    """Return whether a kept crux, or all of them jointly, is worth τ at the best quality."""
    best = terms.parameters.best
    return _is_worth([(crux.mean, best[crux.how]) for crux in cruxes if crux.mean], group, terms)


def worth_testing(cruxes: Sequence[Crux], group: GroupForecast, terms: ForecastTerms) -> list[Crux]:
    """Return the kept cruxes to test: all that can be tested here if one of them, or all jointly, is worth τ here."""
    # A crux that only a person or the outside world can test is listed for the reader, not tested.
    possible = [crux for crux in cruxes if crux.mean and terms.here(crux.how) is not None]
    at_hand = [(crux.mean, terms.here(crux.how) or 0) for crux in possible if crux.mean]
    return possible if _is_worth(at_hand, group, terms) else []


def _is_worth(tests: Sequence[tuple[Numbers, int]], group: GroupForecast, terms: ForecastTerms) -> bool:
    # Single values are cheap. The joint value grows with 2^n combinations, so it is computed only when needed.
    alone = any(value_of_test(numbers, quality) >= terms.tau for numbers, quality in tests)
    return alone or (len(tests) > 1 and joint_value(group, tests) >= terms.tau)


def doubters(numbers: Mapping[str, Numbers], order: Sequence[str]) -> list[str]:
    """Return the roles with numbers about a crux, the one that doubts it most first; ties in the order of roles."""
    return sorted((role for role in order if role in numbers), key=lambda role: numbers[role].probability)


def all_expected_otherwise(numbers: Mapping[str, Numbers], holds: bool, roles: Collection[str]) -> bool:
    """Return whether every one of the roles gave numbers and found the other result more likely than this one."""
    # A probability of exactly one half expected neither result, so it never counts as surprise.
    half = WHOLE // 2
    return all(
        role in numbers and (numbers[role].probability < half if holds else numbers[role].probability > half)
        for role in roles
    )
