"""Debate scores against sums done by hand, in whole hundredths."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from rounds.protocols.debate_judging import RUBRICS, in_words, side_totals, total

BY_HAND = {
    "logic30": (
        ("logic_score", 30),
        ("evidence_score", 30),
        ("responsiveness_score", 25),
        ("honesty_score", 15),
    ),
    "evidence40": (
        ("evidence_score", 40),
        ("coherence_score", 30),
        ("rebuttal_score", 20),
        ("clarity_score", 10),
    ),
}


def rows(rubric: str, seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [
        {"argument_id": f"{side}-{n}", **{field: rng.randint(1, 10) for field, _ in BY_HAND[rubric]}}
        for side in ("PRO", "CON")
        for n in range(1, rng.randint(3, 5) + 1)
    ]


@pytest.mark.parametrize("rubric", list(RUBRICS))
@pytest.mark.parametrize("seed", range(20))
def test_scores_are_the_weighted_sums(rubric: str, seed: int) -> None:
    hundredths = {
        row["argument_id"]: sum(row[field] * weight for field, weight in BY_HAND[rubric])
        for row in rows(rubric, seed)
    }
    totals = {
        row["argument_id"]: total(rubric, {field: row[field] for field, _ in BY_HAND[rubric]})
        for row in rows(rubric, seed)
    }
    assert totals == {identity: Fraction(value, 100) for identity, value in hundredths.items()}
    means = side_totals(totals, {identity: identity[:3] for identity in totals})
    for side in ("PRO", "CON"):
        own = [value for identity, value in hundredths.items() if identity.startswith(side)]
        assert means[side] == Fraction(sum(own), len(own) * 100)


@pytest.mark.parametrize(
    ("pro", "con", "reading"),
    [(6, 6, "even"), (7, 6, "neither even nor significant"), (8, 5, "neither"), (9, 5, "significant")],
)
def test_the_reading_of_the_gap(pro: int, con: int, reading: str) -> None:
    assert f" is {reading}" in in_words({"PRO": Fraction(pro), "CON": Fraction(con)})
