"""Votes: the documented and the shipped rules over every combination of up to five ballots, and what no rule may do."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest

import moot
from rounds.protocols.votes import UnknownRules, aggregate_votes

COMBINATIONS = [
    combination
    for size in range(1, 6)
    for combination in itertools.combinations_with_replacement(("ACT", "WARN", "REFUSE", "VETO"), size)
]


def ballots(*decisions: str, confidence: float = 90, risk: float = 10) -> list[dict[str, Any]]:
    return [
        {"agent": f"agent {n}", "decision": decision, "confidence": confidence, "risk": risk}
        for n, decision in enumerate(decisions)
    ]


@pytest.mark.parametrize(
    ("counts", "decision"),
    [
        ((3, 0, 0), "ACT"),
        ((2, 1, 0), "ACT"),
        ((2, 0, 1), "ACT"),
        ((1, 2, 0), "WARN"),
        ((0, 3, 0), "WARN"),
        ((0, 2, 1), "WARN"),
        ((1, 1, 1), "WARN"),
        ((0, 1, 2), "REFUSE"),
        ((0, 0, 3), "REFUSE"),
        ((1, 0, 2), "REFUSE"),
    ],
)
def test_the_documented_matrix(counts: tuple[int, int, int], decision: str) -> None:
    act, warn, refuse = counts
    votes = ballots(*["ACT"] * act, *["WARN"] * warn, *["REFUSE"] * refuse)
    assert aggregate_votes(votes).decision == decision


@pytest.mark.parametrize(
    ("acts", "size", "decision"),
    [
        *[
            (1, 1, "ACT"),
            (0, 1, "REFUSE"),
            (1, 2, "REFUSE"),
            (2, 3, "WARN"),
            (1, 3, "REFUSE"),
            (3, 4, "WARN"),
        ],
        *[
            (2, 4, "REFUSE"),
            (3, 5, "WARN"),
            (4, 5, "WARN"),
            (2, 5, "REFUSE"),
            (9, 10, "ACT"),
            (8, 10, "WARN"),
        ],
        *[(6, 10, "WARN"), (5, 10, "REFUSE")],
    ],
)
def test_the_shipped_table(acts: int, size: int, decision: str) -> None:
    votes = ballots(*["ACT"] * acts, *["WARN"] * (size - acts))
    assert aggregate_votes(votes, "shipped").decision == decision


@pytest.mark.parametrize(
    ("risk", "confidence", "decision", "rule"),
    [
        (29.9, 90, "ACT", "high_agreement_low_risk"),
        (30, 90, "WARN", "high_agreement_high_risk"),
        (10, 40, "ACT", "high_agreement_low_risk"),
        (10, 39.9, "REFUSE", "low_confidence"),
    ],
)
def test_the_shipped_boundaries(risk: float, confidence: float, decision: str, rule: str) -> None:
    ruling = aggregate_votes(ballots("ACT", "ACT", "ACT", confidence=confidence, risk=risk), "shipped")
    assert (ruling.decision, ruling.rule) == (decision, rule)


def _documented_slowly(decisions: tuple[str, ...]) -> str:
    """A plain restatement: veto, else two thirds of the ballots, else WARN."""
    if "VETO" in decisions:
        return "REFUSE"
    for decision in ("ACT", "WARN", "REFUSE"):
        if decisions.count(decision) * 3 >= 2 * len(decisions):
            return decision
    return "WARN"


@pytest.mark.parametrize("rules", ["documented", "shipped"])
def test_every_combination(rules: str) -> None:
    for decisions in COMBINATIONS:
        votes = ballots(*decisions)
        ruling = aggregate_votes(votes, rules)
        if "VETO" in decisions:
            assert (ruling.decision, ruling.rule) == ("REFUSE", "safety_veto"), decisions
        if rules == "documented":
            assert ruling.decision == _documented_slowly(decisions), decisions
        shuffled = random.Random(len(decisions)).sample(votes, len(votes))
        assert aggregate_votes(shuffled, rules) == ruling, decisions


@pytest.mark.parametrize("rules", ["documented", "shipped"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -1, 101, None, "90", True, []])
@pytest.mark.parametrize("field", ["confidence", "risk"])
def test_a_ballot_that_is_no_ballot_never_acts(field: str, bad: object, rules: str) -> None:
    alone = [ballots("ACT")[0] | {field: bad}]
    ruling = aggregate_votes(alone, rules)
    assert ruling.decision == "REFUSE"
    assert not any(isinstance(value, float) and math.isnan(value) for value in ruling.metadata.values())


@pytest.mark.parametrize("rules", ["documented", "shipped"])
def test_no_ballots_refuse(rules: str) -> None:
    assert aggregate_votes([], rules).decision == "REFUSE"


def test_one_bad_vote_among_good_ones_never_acts() -> None:
    bad = {"agent": "safety", "decision": "ACT", "confidence": 80, "risk": math.nan}
    for rules in ("documented", "shipped"):
        assert aggregate_votes([*ballots("ACT", "ACT"), bad], rules).decision == "REFUSE"


def test_a_veto_with_bad_numbers_is_still_a_veto() -> None:
    bad = {"agent": "safety", "decision": "VETO", "confidence": None, "risk": math.nan}
    votes = [*ballots("ACT", "ACT"), bad]
    ruling = aggregate_votes(votes, "shipped")
    assert (ruling.decision, ruling.metadata["veto_agent"]) == ("REFUSE", "safety")


def test_rules_have_names() -> None:
    with pytest.raises(UnknownRules):
        aggregate_votes([], "guessed")


def test_the_rules_are_part_of_the_public_api() -> None:
    assert moot.aggregate_votes(ballots("ACT")).model_dump()["decision"] == "ACT"
    assert "jugalbandi_counts" in dir(moot)
    assert callable(moot.jugalbandi_counts)
