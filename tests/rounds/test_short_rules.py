"""Rules of the short protocols that are arithmetic: judges, scorecards, priorities (XS-19, AD-12, AD-16, AD-28).

Of `rounds/protocols/debate_judging.py`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from detectors.forecasts.arithmetic import decimal_text
from ledger.events import Concern, Rating
from ledger.state.book import book
from rounds.protocols.comparative import CRITERIA, is_close, means, weighted
from rounds.protocols.debate_judging import (
    ALPHA_LEAST,
    Judged,
    alpha,
    bootstrap,
    in_words,
    side_totals,
    total,
    weighed,
)
from rounds.protocols.panel import by_weight
from rounds.protocols.priority import borda, level_of_sum, ranked, summed
from rounds.protocols.sides import Pairing, pairings
from rounds.protocols.step_table import Numbering
from rounds.protocols.tribunal import POLICIES
from tests.detectors.ledgers import Blobs

SIDES = {"R-1-1": "PRO", "R-1-2": "PRO", "R-1-3": "CON", "R-1-4": "CON"}


def test_alpha_by_hand() -> None:
    # two judges, three units: (1,2) (3,3) (5,4). Observed: (2 + 0 + 2) / 6; expected: 70 / (6 * 5).
    units = [[1, 2], [3, 3], [5, 4]]
    values = [1, 2, 3, 3, 5, 4]
    expected = sum((a - b) ** 2 for a in values for b in values) / (6 * 5)
    assert alpha(units) == pytest.approx(1 - (4 / 6) / expected)


def test_alpha_at_its_ends() -> None:
    assert alpha([[1, 1], [5, 5], [9, 9]]) == 1
    assert alpha([[1, 9], [9, 1]]) is not None
    assert (alpha([[1, 9], [9, 1]]) or 0) < 0
    assert alpha([[3], [4]]) is None
    assert alpha([[3, 3], [3, 3]]) is None


@given(st.lists(st.lists(st.integers(1, 10), min_size=2, max_size=4), min_size=2, max_size=8))
def test_alpha_does_not_mind_the_order(units: list[list[int]]) -> None:
    one, other = alpha(units), alpha([unit[::-1] for unit in units[::-1]])
    assert one == pytest.approx(other)
    assert one is None or one <= 1


def test_the_interval_is_drawn_by_the_seed() -> None:
    units = [[1, 2], [3, 3], [5, 4], [8, 9]]
    low, high = bootstrap(units, 7) or (2.0, 0.0)
    assert bootstrap(units, 7) == (low, high)
    assert low <= (alpha(units) or 0) <= high


def judged(*totals: float, confidence: int = 3) -> Judged:
    return Judged(dict(zip(SIDES, totals, strict=True)), confidence)


def test_judges_who_agree_determine() -> None:
    winner, votes, value = weighed([judged(8, 9, 3, 4), judged(9, 9, 2, 3), judged(7, 8, 3, 3)], SIDES)
    assert winner == "PRO"
    assert votes == {"CON": 0, "PRO": 9}
    assert (value or 0) > ALPHA_LEAST


def test_a_stricter_judge_counts_as_much() -> None:
    _, votes, _ = weighed([judged(8, 9, 6, 7), judged(3, 4, 1, 2)], SIDES)
    assert votes == {"CON": 0, "PRO": 6}


def test_judges_who_disagree_determine_nothing() -> None:
    assert weighed([judged(8, 9, 3, 4), judged(3, 2, 9, 8)], SIDES)[0] is None


def test_a_judge_who_scores_all_the_same_prefers_nobody() -> None:
    assert weighed([judged(5, 5, 5, 5), judged(5, 5, 5, 5)], SIDES)[1] == {"CON": 0, "PRO": 0}


@pytest.mark.parametrize(
    ("pro", "con", "reading"),
    [(5, 5, "even"), (6, 5, "neither"), (8, 5, "neither"), (9, 5, "significant")],
)
def test_a_gap_is_read(pro: int, con: int, reading: str) -> None:
    assert reading in in_words({"PRO": Fraction(pro), "CON": Fraction(con)})


def test_totals_are_exact_and_rounded_half_even() -> None:
    parts = {"logic_score": 7, "evidence_score": 8, "responsiveness_score": 6, "honesty_score": 9}
    assert total("logic30", parts) == Fraction(7 * 30 + 8 * 30 + 6 * 25 + 9 * 15, 100)
    assert decimal_text(Fraction(1, 3)) == "0.3333"
    assert decimal_text(Fraction(20005, 200000)) == "0.1000"
    assert side_totals({"R-1-1": Fraction(4), "R-1-2": Fraction(5)}, SIDES) == {"PRO": Fraction(9, 2)}


def test_every_pair_is_argued_with_both_lenses() -> None:
    assert pairings(2) == (Pairing("O-1", "O-2"), Pairing("O-2", "O-1"))
    assert len(pairings(4)) == 12
    for pair in pairings(4):
        assert Pairing(pair.b, pair.a) in pairings(4)


def test_weighted_means() -> None:
    assert weighted({"cost": 4, "risk": 2}, {"cost": "High", "risk": "Low"}) == Fraction(14, 4)
    assert means([("O-1", Fraction(4)), ("O-1", Fraction(3)), ("O-2", Fraction(1))]) == {
        "O-1": Fraction(7, 2),
        "O-2": Fraction(1),
    }
    assert is_close(Fraction(400), Fraction(380))
    assert not is_close(Fraction(400), Fraction(379))
    assert all(5 < len(names) < 8 for names in CRITERIA.values())


def test_sums_go_back_to_levels_by_halves_towards_the_urgent() -> None:
    assert [level_of_sum(total) for total in range(8, 1, -1)] == ["P0", "P0", "P1", "P1", "P2", "P2", "P3"]
    assert [level_of_sum(total, 1) for total in (4, 3, 2, 1)] == ["P0", "P1", "P2", "P3"]


def test_ties_share_a_rank_in_the_order_of_the_options() -> None:
    levels = {
        "urgency": {"O-1": "P0", "O-2": "P1", "O-3": "P2"},
        "impact": {"O-1": "P2", "O-2": "P1", "O-3": "P3"},
    }
    totals = summed(levels)
    assert totals == {"O-1": 6, "O-2": 6, "O-3": 3}
    assert ranked(totals) == [(1, "O-1"), (1, "O-2"), (3, "O-3")]


def test_borda_is_not_the_sum() -> None:
    levels = {
        "urgency": {"O-1": "P0", "O-2": "P3", "O-3": "P3"},
        "impact": {"O-1": "P3", "O-2": "P2", "O-3": "P3"},
    }
    counts = borda(levels)
    assert counts == {"O-1": Fraction(5, 2), "O-2": Fraction(5, 2), "O-3": Fraction(1)}
    assert summed(levels) == {"O-1": 5, "O-2": 3, "O-3": 2}
    assert sum(counts.values()) == 6  # n (n - 1) points over two lenses


@pytest.mark.parametrize(
    ("policy", "numbers", "decision"),
    [
        (POLICIES["utility"], (60, 100), "ACT"),
        (POLICIES["utility"], (59, 0), "WARN"),
        (POLICIES["utility"], (40, 0), "WARN"),
        (POLICIES["utility"], (39, 0), "REFUSE"),
        (POLICIES["accuracy"], (85, 100), "ACT"),
        (POLICIES["accuracy"], (84, 0), "WARN"),
        (POLICIES["accuracy"], (60, 0), "WARN"),
        (POLICIES["accuracy"], (59, 0), "REFUSE"),
        (POLICIES["safety"], (0, 29), "ACT"),
        (POLICIES["safety"], (100, 30), "WARN"),
        (POLICIES["safety"], (100, 49), "WARN"),
        (POLICIES["safety"], (100, 50), "VETO"),
    ],
)
def test_votes_follow_from_numbers(policy: object, numbers: tuple[int, int], decision: str) -> None:
    assert policy(*numbers) == decision  # type: ignore[operator]


def test_findings_of_two_fields_come_first_and_the_graver_before_the_lighter() -> None:
    at: dict[str, Any] = {"round": 1, "phase": "findings", "by": "reviewer_1"}
    findings = [
        Concern(**at, id=f"N-1-{n}", type="concern", text="a finding", severity=severity)
        for n, severity in enumerate((3, 4, 5, 5), 1)
    ]
    marks = [
        Rating(**at, of=identity, scale="severity_1_5", value=3, criterion="cross-cutting", reason="so")
        for identity in ("N-1-1", "N-1-2", "N-1-3")
    ]
    order = [finding.id for finding in by_weight(Numbering(book([*findings, *marks], Blobs()), 1))]
    assert order == ["N-1-3", "N-1-2", "N-1-1", "N-1-4"]
