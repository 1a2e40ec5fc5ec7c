"""Claim standing: DF-QuAD by hand, the graph against a slow oracle, per option; contribution."""

from __future__ import annotations

from math import comb
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.contribution import binomial_at_most, contributions, drop, power
from detectors.standing import aggregate, by_option, df_quad, standings
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold
from ledger.state.state import State
from tests.detectors.made import a_change, a_claim, a_verification

strengths = st.lists(st.floats(0, 1), max_size=5)


def _state(rows: dict[str, list[dict[str, Any]]]) -> State:
    files = {
        f"{name}.jsonl": b"".join(orjson.dumps(row) + b"\n" for row in found) for name, found in rows.items()
    }
    return fold(read_skill(files, None).events)


def _tests(*results: tuple[str, int, tuple[str, ...]]) -> State:
    """One claim, tested in rounds 1, 2 …: (result, numbered references, further references)."""
    to = {"ROBUST": "tested_confirmed", "BROKEN": "tested_refuted", "UNCLEAR": "tested_unclear"}
    verifications, before = [], "pending"
    for number, (result, deep, more) in enumerate(results, 1):
        row = a_verification(number, 1, result, a_change("C-1-1", before, to[result]))
        row["evidence_refs"] = [
            *(f"artifacts/round_01/action.md#trace-{n}" for n in range(1, deep + 1)),
            *more,
        ]
        row["claims_affected"] = ["C-1-1"]
        verifications.append(row)
        before = to[result]
    return _state({"claims": [a_claim(1, 1)], "verifications": verifications})


def test_by_hand() -> None:
    one = standings(_tests(("ROBUST", 2, ())))["C-1-1"]
    assert (one.label, one.strength, one.grounded, one.probability) == ("confirmed", 0.8, "IN", 0.8)
    shallow = standings(_tests(("BROKEN", 1, ())))["C-1-1"]
    assert (shallow.label, shallow.strength, shallow.grounded) == ("contested", 0.4, "OUT")
    both = standings(_tests(("BROKEN", 2, ()), ("ROBUST", 2, ())))["C-1-1"]
    assert (both.label, both.strength, both.probability) == ("contested", 0.5, 0.5)
    assert [argument.side for argument in both.arguments] == ["attacks", "supports"]


def test_an_unclear_test_is_no_argument() -> None:
    assert standings(_tests(("UNCLEAR", 3, ())))["C-1-1"].label == "untested"


def test_a_verification_that_is_named_and_contradicted_is_attacked_in_turn() -> None:
    found = standings(_tests(("BROKEN", 2, ()), ("ROBUST", 2, ("V-1-1#notes",))))["C-1-1"]
    attacked, supporting = found.arguments
    assert attacked.attacked_by == ["V-2-1"]
    assert attacked.strength == pytest.approx(0.6 - 0.6 * 0.6)
    assert supporting.attacked_by == []
    assert found.grounded == "IN"
    assert found.strength > 0.5


def test_a_label_looks_to_the_end_of_the_chain() -> None:
    """R-15: V1 ← V2 ← V3. V3 stands, so V2 falls, so V1 stands: the opposite of what one level says."""
    state = _tests(("BROKEN", 2, ()), ("ROBUST", 2, ("V-1-1#notes",)), ("BROKEN", 2, ("V-2-1#notes",)))
    found = standings(state)["C-1-1"]
    assert [one.attacked_by for one in found.arguments] == [["V-2-1"], ["V-3-1"], []]
    assert [one.strength for one in found.arguments] == pytest.approx([0.6 * (1 - 0.24), 0.24, 0.6], abs=1e-4)
    assert found.grounded == "OUT"
    assert found.probability == pytest.approx(
        1 / (1 + 4 * 4), abs=1e-4
    )  # two BROKEN count, the fallen ROBUST not
    further = (
        *(("BROKEN", 2, ()), ("ROBUST", 2, ("V-1-1#n",)), ("BROKEN", 2, ("V-2-1#n",))),
        ("ROBUST", 2, ("V-3-1#n",)),
    )
    assert standings(_tests(*further))["C-1-1"].grounded == "IN"


@given(strengths, strengths, st.floats(0.01, 0.99))
def test_df_quad_stays_between_0_and_1_and_is_monotone(
    attacks: list[float], supports: list[float], more: float
) -> None:
    here = df_quad(0.5, attacks, supports)
    assert 0 <= here <= 1
    assert df_quad(0.5, [*attacks, more], supports) <= here + 1e-12
    assert df_quad(0.5, attacks, [*supports, more]) >= here - 1e-12
    assert df_quad(0.5, attacks, attacks) == pytest.approx(0.5)


@given(strengths)
def test_aggregation_is_one_by_one(strengths: list[float]) -> None:
    """F(S ∪ {w}) = F(S) + w − F(S)·w, whatever the order."""
    slow = 0.0
    for strength in strengths:
        slow = slow + strength - slow * strength
    assert aggregate(strengths) == pytest.approx(slow)
    assert aggregate(strengths[::-1]) == pytest.approx(slow)


def test_claims_are_gathered_by_option() -> None:
    found = standings(_tests(("ROBUST", 2, ())))["C-1-1"]
    first, second = by_option(["O-1", "O-2"], [(["O-1"], found)])
    assert (first.confirmed, first.strength) == (1, 0.8)
    assert (second.confirmed, second.untested, second.strength) == (0, 0, None)


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
