"""Thresholds of version 4: coins that are split, a gate that waits, alarms that can all be closed, and p-values.

Versions before it read as they did: their hashes were taken before version 4 was written.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.calibrated.betting import clustered_stream, e_values, late_value, mixed, share_stream
from detectors.calibrated.domination import domination
from detectors.calibrated.failure_modes import goal_drift, stress_avoidance
from detectors.calibrated.gates import gates
from detectors.calibrated.judgement import judge, readings_of
from detectors.calibrated.parameters import calibrated_parameters, recorded_parameters
from detectors.calibrated.reading import ModeReading
from detectors.calibrated.rounds import RoundUnits, Units
from detectors.parameters import DIRECTORY
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold
from ledger.state.state import State

INSTALLED = calibrated_parameters()
THIRD = recorded_parameters((DIRECTORY / "calibrated-3.toml").read_bytes())
ROLES = ("action", "guardian", "observer", "critic")
LEDGERS: tuple[tuple[int, dict[str, float]], ...] = (
    (1, {}),
    (2, {"fm1": 1.0, "fm5i": 1.0}),
    (3, {"fm3": 0.6, "fm4": 0.6, "fm7": 1.0, "fm8": 0.6}),
    (4, {"fm5s": 1.0}),
)


@pytest.mark.parametrize(
    ("version", "as_it_was"),
    [(1, "d5808aec99aa45dd"), (2, "d9f791bb7e1ebd41"), (3, "67e52c33c662dd15")],
)
def test_versions_before_read_as_they_did(version: int, as_it_was: str) -> None:
    parameters = recorded_parameters((DIRECTORY / f"calibrated-{version}.toml").read_bytes())
    told = sha256()
    for seed, failures in LEDGERS:
        state = fold(read_skill(Simulation(Setting(seed=seed, failures=failures)).files(), None).events)
        for one in readings_of(state, parameters):
            rows: tuple[object, ...] = (one.mode, one.verdict, one.rounds, one.alarm_round, one.onset)
            told.update(repr((*rows, one.evidence, one.sentence, one.tolerated, one.mended)).encode())
        look = judge(state, parameters, as_recorded=True)
        told.update(repr([(gate.name, gate.ok, gate.value, gate.limit) for gate in look.gates]).encode())
        told.update(repr((look.ready, look.stop, look.advice)).encode())
    assert told.hexdigest()[:16] == as_it_was


def _expected(p: float, rounds: int, *, together: bool) -> Iterator[tuple[float, tuple[float, ...]]]:
    """Every course of so many rounds, one check of two units each: its chance at the rate p, and its E by round."""
    one = {(2, 2): p, (0, 2): 1 - p} if together else {(x, 2): _binomial(x, p) for x in range(3)}
    for course in itertools.product(one.items(), repeat=rounds):
        stream = clustered_stream([[counts] for counts, _ in course], 0.2, (0.35, 0.7))
        yield math.prod(chance for _, chance in course), e_values(stream, rounds, falling=True)


def _binomial(x: int, p: float) -> float:
    return math.comb(2, x) * p**x * (1 - p) ** (2 - x)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("p", [0.05, 0.2])
def test_a_coin_does_not_grow_on_average_whether_units_move_together_or_not(p: float, together: bool) -> None:
    """By exact enumeration: E is 1 at most after every round, and reaches 20 in one course of twenty at most."""
    for end in range(5):
        assert sum(chance * e[end] for chance, e in _expected(p, 5, together=together)) <= 1 + 1e-9
    assert sum(chance for chance, e in _expected(p, 5, together=together) if max(e) >= 20) <= 0.05


def test_units_that_move_together_would_break_a_product_of_their_ratios() -> None:
    """Why a check bets once: (p1/p0)² on average is more than 1 where both of its units are one draw."""
    both, neither = (share_stream([(x, 2)], 0.2, (0.7,)).rows[0][0] for x in (2, 0))
    assert 0.2 * math.exp(both) + 0.8 * math.exp(neither) > 2


@given(st.integers(1, 20), st.lists(st.tuples(st.integers(0, 3), st.integers(3, 5)), min_size=1, max_size=24))
def test_stakes_are_one_coin_and_clusters_of_one_are_units(
    planned: int, counts: list[tuple[int, int]]
) -> None:
    nothing = share_stream([(0, 0)] * len(counts), 0.2, (0.5,))
    assert e_values(nothing, planned, falling=True) == pytest.approx([1.0] * len(counts))
    units = [[(int(k < x), 1) for k in range(n)] for x, n in counts]
    one_by_one = e_values(clustered_stream(units, 0.2, (0.5,)), planned)
    assert one_by_one == pytest.approx(e_values(share_stream(counts, 0.2, (0.5,)), planned), rel=1e-9)
    assert mixed((2, 1), [one_by_one, one_by_one]) == pytest.approx(one_by_one)


def test_what_came_late_is_worth_what_its_rounds_alone_bring() -> None:
    stream = share_stream([(0, 10), (0, 10), (3, 3)], 0.2, (0.5,))
    assert late_value(stream, 3) == pytest.approx(2.5**3)
    assert late_value(share_stream([(3, 3), (0, 10)], 0.2, (0.5,)), 1) < 1
    assert late_value(share_stream([], 0.2, (0.5,)), 3) == 1.0


@given(st.lists(st.floats(0, 1e5), max_size=20))
def test_p_anytime_is_one_over_the_greatest_e_and_never_rises(rounds: list[float]) -> None:
    told = [float(_reading(rounds[:end]).p_anytime) for end in range(len(rounds) + 1)]
    assert told == sorted(told, reverse=True)
    assert told[0] == 1.0
    assert told[-1] == pytest.approx(min(1.0, 1 / max([*rounds, 1.0])), rel=1e-3)


def _reading(rounds: Sequence[float]) -> ModeReading:
    fields: dict[str, Any] = {"evidence": (), "counter_evidence": (), "bad": 0, "units": 0, "needed": 1}
    return ModeReading(
        mode="FM-6",
        verdict="CLEAR",
        rounds=tuple(rounds),
        alarm_round=None,
        onset=None,
        sentence="",
        **fields,
    )


# ---------------------------------------------------------------- every alarm can be closed by the rounds after it


def _rounds(bad: Sequence[bool]) -> list[RoundUnits]:
    """Rounds of six claims and eight citations each; where bad, no goal is named and one role is cited alone."""
    found: list[RoundUnits] = []
    for number, wrong in enumerate(bad, 1):
        names = [f"C-{number}-{k}" for k in range(1, 7)]
        cited = [(ROLES[0] if wrong else ROLES[k % 4], f"D-{number}-1") for k in range(8)]
        units = Units(names, []) if wrong else Units([], names)
        found.append(
            RoundUnits(
                round=number,
                present=ROLES,
                lead=ROLES[0] if wrong else ROLES[number % 4],
                absent=None,
                planned=None,
                unanchored=units,
                cited_claims=cited,
            )
        )
    return found


OURS = cast("State", SimpleNamespace(roles=ROLES, opened=None, checks={}, positions={}, claims={}))


@pytest.mark.parametrize("read", [goal_drift, domination])
def test_drift_and_domination_recover_after_two_good_rounds(read: Any) -> None:
    held = _rounds([True] * 5 + [False] * 2)
    alarmed = read(OURS, held[:5], INSTALLED, 13)
    assert alarmed.verdict == "ALARM"
    assert not alarmed.has_recovered(5)
    assert not read(OURS, held[:6], INSTALLED, 13).has_recovered(5)
    assert read(OURS, held, INSTALLED, 13).has_recovered(5)
    assert not read(OURS, held, THIRD, 13).has_recovered(5)


def _absences(*absent: str | None) -> list[RoundUnits]:
    """Four rounds were to go without the critic, who was absent or not."""
    return [
        RoundUnits(
            round=number, present=ROLES, lead=ROLES[0], absent=who, planned="critic" if number == 1 else None
        )
        for number, who in enumerate(absent, 1)
    ]


def test_an_absence_that_was_avoided_is_mended_by_a_real_one() -> None:
    late = _absences(None, None, None, "critic")
    found = stress_avoidance(OURS, late, INSTALLED, 13)
    assert (found.verdict, found.alarm_round, found.mended) == ("ALARM", 1, (4,))
    assert found.has_recovered(3)
    assert not stress_avoidance(OURS, late[:3], INSTALLED, 13).has_recovered(3)
    assert not stress_avoidance(OURS, late, THIRD, 13).has_recovered(3)
    assert not stress_avoidance(OURS, _absences(None, None, None, "guardian"), INSTALLED, 13).mended


# ---------------------------------------------------------------- READY waits


def test_ready_waits_while_a_failure_may_have_just_begun() -> None:
    held = _rounds([False] * 5)
    held[-1].unanchored = Units(["C-5-1", "C-5-2", "C-5-3"], ["C-5-4", "C-5-5", "C-5-6"])
    young = goal_drift(OURS, held, INSTALLED, 13)
    assert young.verdict == "CLEAR"
    assert not _cautious(young).ok
    assert "FM-3" in (_cautious(young).value or "")
    assert _cautious(goal_drift(OURS, held[:4], INSTALLED, 13)).ok


def test_a_great_e_withholds_ready_though_the_last_rounds_were_good() -> None:
    quiet = msgspec.structs.replace(_reading([3.0]), late=0.1)
    assert not _cautious(quiet).ok
    assert _cautious(msgspec.structs.replace(quiet, rounds=(2.99,))).ok


def _cautious(reading: ModeReading) -> Any:
    state = State()
    found = {gate.name: gate for gate in gates(state, (), (reading,), INSTALLED)}
    assert "cautious" not in {gate.name for gate in gates(state, (), (reading,), THIRD)}
    return found["cautious"]
