"""What a role contributed: its part of the claims, and the power of stress rounds."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given, strategies as st

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.contribution import binomial_at_most, contributions, drop, power
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold


def test_the_power_of_stress_rounds_is_what_was_published() -> None:
    """Six claims a round, four normal rounds a stress round; a share of 25, 40, 60 %; 1, 2, 3, 5 stress rounds."""
    published = {0.25: (8, 15, 20, 31), 0.4: (15, 31, 44, 67), 0.6: (32, 63, 83, 97)}
    for share, expected in published.items():
        found = [100 * power(share, rounds, 4 * rounds, 6.0) for rounds in (1, 2, 3, 5)]
        assert found == pytest.approx(expected, abs=1.5)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 3), st.integers(1, 6))
def test_the_conditional_test_is_a_binomial(inside: int, beside: int, ours: int, others: int) -> None:
    share = ours / (ours + others)
    trials = inside + beside
    slow = sum(comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(inside + 1))
    assert drop(inside, ours, beside, others) == pytest.approx(slow)
    assert binomial_at_most(trials, trials, share) == pytest.approx(1.0)


def test_one_stress_round_is_never_enough_to_clear_a_role() -> None:
    state = fold(read_skill(Simulation(Setting(seed=4)).files(), None).events)
    found = {one.role: one for one in contributions(state)}
    assert found["critic"].stress_rounds == [5]
    assert {one.verdict for one in found.values()} <= {"INSUFFICIENT", "CARRIES"}
    assert all(one.power for one in found.values())
    assert sum(one.claims for one in found.values()) == len(state.claims)


def test_nothing_is_guessed_on_an_empty_ledger() -> None:
    assert {one.verdict for one in contributions(fold(()))} == {"INSUFFICIENT"}
