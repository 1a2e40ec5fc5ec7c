"""Debate scores against sums done by hand, in whole hundredths."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rounds.protocols.debate_judging import RUBRICS, ScoreRefused, score_debate

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
    given = rows(rubric, seed)
    found = score_debate(given, rubric)
    hundredths = {
        row["argument_id"]: sum(row[field] * weight for field, weight in BY_HAND[rubric]) for row in given
    }
    assert {a.argument_id: a.score for a in found.arguments} == {k: v / 100 for k, v in hundredths.items()}
    for side in ("PRO", "CON"):
        own = [value for key, value in hundredths.items() if key.startswith(side)]
        assert found.sides[side] == pytest.approx(sum(own) / len(own) / 100, abs=1e-12)
    assert found.gap == pytest.approx(abs(found.sides["PRO"] - found.sides["CON"]), abs=1e-12)


@pytest.mark.parametrize(
    ("pro", "con", "reading"), [(6, 6, "even"), (7, 6, "between"), (8, 5, "between"), (9, 5, "significant")]
)
def test_the_reading_of_the_gap(pro: int, con: int, reading: str) -> None:
    given = [
        {"argument_id": "PRO-1", **{field: pro for field, _ in BY_HAND["logic30"]}},
        {"argument_id": "CON-1", **{field: con for field, _ in BY_HAND["logic30"]}},
    ]
    assert score_debate(given).reading == reading


@pytest.mark.parametrize("bad", [0, 11, 5.0, True, None, "7"])
def test_a_score_is_an_integer_from_one_to_ten(bad: object) -> None:
    given = rows("logic30", 1)
    given[0]["logic_score"] = bad
    with pytest.raises(ScoreRefused, match="PRO-1: logic_score"):
        score_debate(given)


def test_both_sides_are_scored_and_nobody_twice() -> None:
    given = rows("logic30", 1)
    with pytest.raises(ScoreRefused, match="CON"):
        score_debate([row for row in given if row["argument_id"].startswith("PRO")])
    with pytest.raises(ScoreRefused, match="twice"):
        score_debate([*given, given[0]])
    with pytest.raises(ScoreRefused, match="rubric"):
        score_debate(given, "vibes")
