"""Comparing options: standard criteria, pairings with swapped lenses, and weighted scorecards (AD-11 … AD-16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final, NamedTuple

CRITERIA: Final[Mapping[str, tuple[str, ...]]] = {
    "architecture": (
        "complexity",
        "performance",
        "maintainability",
        "team familiarity",
        "migration effort",
        "extensibility",
        "operational burden",
    ),
    "vendor": (
        "cost",
        "feature completeness",
        "integration quality",
        "vendor stability",
        "migration effort",
        "team preference",
        "support quality",
    ),
    "tool": (
        "developer experience",
        "feature completeness",
        "community",
        "cost",
        "integration effort",
        "learning curve",
    ),
    "strategy": ("alignment", "risk", "effort", "reversibility", "stakeholder buy-in", "time to value"),
}
"""Kind of comparison → its criteria (AD-12)."""
WEIGHTS: Final[Mapping[str, int]] = {"High": 3, "Medium": 2, "Low": 1}
CLOSE_WITHIN: Final = Fraction(5, 100)
"""Totals this near to each other, of the greater one, are close (AD-16)."""


class Pairing(NamedTuple):
    """One round: which option each advocate argues for. `a` looks far ahead, `b` at the next months."""

    a: str
    b: str


def pairings(options: int) -> tuple[Pairing, ...]:
    """Every pair of options twice, the second time with the lenses swapped (AD-13 confounds lens and option)."""
    found: list[Pairing] = []
    for first, second in combinations(range(1, options + 1), 2):
        found += [Pairing(f"O-{first}", f"O-{second}"), Pairing(f"O-{second}", f"O-{first}")]
    return tuple(found)


def weighted(parts: Mapping[str, int], weights: Mapping[str, str]) -> Fraction:
    """The weighted mean of scores from 1 to 5; criterion → score, criterion → High, Medium or Low."""
    whole = sum(WEIGHTS[weights[name]] for name in parts)
    return Fraction(sum(WEIGHTS[weights[name]] * value for name, value in parts.items()), whole)


def means(totals: Sequence[tuple[str, Fraction]]) -> dict[str, Fraction]:
    """Option → mean of its totals over all rounds."""
    found: dict[str, list[Fraction]] = {}
    for option, total in totals:
        found.setdefault(option, []).append(total)
    return {option: sum(values, Fraction(0)) / len(values) for option, values in found.items()}


def is_close(first: Fraction, second: Fraction) -> bool:
    """Whether two totals are within five per cent of the greater."""
    return abs(first - second) <= CLOSE_WITHIN * max(first, second)
