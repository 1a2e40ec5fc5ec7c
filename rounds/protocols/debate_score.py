"""A debate's score: totals by us from a judge's integers, whatever totals the judge claims (XS-8 … XS-10, XS-14).

A high score says that a side argued well, not that it is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, Literal

from ledger.result import Result

RUBRICS: Final[dict[str, dict[str, Fraction]]] = {
    "logic30": {
        "logic_score": Fraction(30, 100),
        "evidence_score": Fraction(30, 100),
        "responsiveness_score": Fraction(25, 100),
        "honesty_score": Fraction(15, 100),
    },
    "evidence40": {
        "evidence_score": Fraction(40, 100),
        "coherence_score": Fraction(30, 100),
        "rebuttal_score": Fraction(20, 100),
        "clarity_score": Fraction(10, 100),
    },
}
"""Rubric → field → weight (XS-8; the second is the published questions-and-answers' variant, XS-10)."""
SIDES: Final = ("PRO", "CON")
EVEN_BELOW: Final = 1
SIGNIFICANT_ABOVE: Final = 3


class ScoreRefused(ValueError):
    """A judge's rows that cannot be scored; the message names the row and the field."""


class ArgumentScore(Result, frozen=True):
    """One argument's weighted score, 1 to 10."""

    argument_id: str
    score: float


class DebateScore(Result, frozen=True):
    """Scores not rounded. `gap` is the distance of the sides; below 1 is even, above 3 significant, else between."""

    arguments: list[ArgumentScore]
    sides: dict[str, float]
    gap: float
    reading: Literal["even", "between", "significant"]


def score_debate(scores: Sequence[Mapping[str, Any]], rubric: str = "logic30") -> DebateScore:
    """Score a judge's rows `{argument_id, <fields of the rubric>}`, integers from 1 to 10.

    Argument ids begin with `PRO-` or `CON-`, and both sides have at least one. Raises `ScoreRefused`.
    """
    weights = RUBRICS.get(rubric)
    if weights is None:
        raise ScoreRefused(f"no rubric {rubric!r}: {' or '.join(RUBRICS)}")
    exact = {_identity(row, n): _score(row, weights) for n, row in enumerate(scores)}
    if len(exact) != len(scores):
        raise ScoreRefused("an argument is scored twice")
    sides = {
        side: _mean([value for key, value in exact.items() if key.startswith(f"{side}-")], side)
        for side in SIDES
    }
    gap = abs(sides["PRO"] - sides["CON"])
    return DebateScore(
        arguments=[ArgumentScore(identity, float(value)) for identity, value in exact.items()],
        sides={side: float(value) for side, value in sides.items()},
        gap=float(gap),
        reading="even" if gap < EVEN_BELOW else "significant" if gap > SIGNIFICANT_ABOVE else "between",
    )


def _identity(row: Mapping[str, Any], number: int) -> str:
    identity = row.get("argument_id")
    if not isinstance(identity, str) or identity.partition("-")[0] not in SIDES:
        raise ScoreRefused(f"row {number + 1}: argument_id {identity!r} is neither PRO-n nor CON-n")
    return identity


def _score(row: Mapping[str, Any], weights: Mapping[str, Fraction]) -> Fraction:
    total = Fraction(0)
    for field, weight in weights.items():
        value = row.get(field)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10:
            raise ScoreRefused(f"{row.get('argument_id')}: {field} {value!r} is no integer from 1 to 10")
        total += weight * value
    return total


def _mean(values: Sequence[Fraction], side: str) -> Fraction:
    if not values:
        raise ScoreRefused(f"no argument of {side} is scored")
    return sum(values, Fraction(0)) / len(values)
