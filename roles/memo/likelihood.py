"""Likelihood words and their ranges, which are always written together (LIT-8)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple


class Likelihood(NamedTuple):
    """Likelihood word with its range in percent."""

    word: str
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.word} ({self.low}–{self.high} %)"


WORDS: Final = (
    Likelihood("almost no chance", 1, 5),
    Likelihood("very unlikely", 5, 20),
    Likelihood("unlikely", 20, 45),
    Likelihood("roughly even", 45, 55),
    Likelihood("likely", 55, 80),
    Likelihood("very likely", 80, 95),
    Likelihood("almost certain", 95, 99),
)


def likelihood_of(points: Fraction) -> Likelihood:
    """Return the word for points from 0 to 100.

    A bound belongs to the range above it, except 55, which is still roughly even.
    """
    # Points are clamped to 1 … 99, because nothing is impossible and nothing is certain.
    clamped = min(max(points, Fraction(1)), Fraction(99))
    return next(
        (word for word in WORDS if clamped < word.high or (clamped == word.high == 55)),
        WORDS[-1],
    )
