"""What the panel shows beside the verdicts: the course of a run as blocks and numbers, and the reason in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.course import course, e_courses
from detectors.signals import signals, signals_of_state
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold
from ledger.state.state import State
from moot.view.stop_checks import because, ended
from moot.view.text import BLOCKS, log_sparkline, numbers, sparkline
from tests.render.sample import sample_book


@pytest.fixture(scope="module")
def simulated() -> State:
    return fold(read_skill(Simulation(Setting(seed=3)).files(), None).events)


def test_blocks_are_heights_and_a_gap_is_a_dot() -> None:
    assert sparkline([0, 7, None, 14]) == "▁▅·█"
    assert sparkline([0.5], 1.0) == "▅"
    assert sparkline([]) == ""
    assert log_sparkline([1, 20, 1e6, 0.01], 20) == "▁██▁"
    assert numbers([7, None, 4.5], False) == "7 · 4.5"
    assert numbers([1.0, 0.305], True) == "100 30 %"


@given(st.lists(st.floats(0, 1e6) | st.none(), max_size=20))
def test_a_greater_number_is_never_a_lower_block(values: list[float | None]) -> None:
    blocks = sparkline(values)
    assert len(blocks) == len(values)
    known = sorted(
        (value, BLOCKS.index(block)) for value, block in zip(values, blocks, strict=True) if value is not None
    )
    heights = [height for _, height in known]
    assert heights == sorted(heights)


def test_the_course_is_what_the_gates_read(simulated: State) -> None:
    found = {one.name: one.values for one in course(simulated)}
    report = signals_of_state(simulated, "gates")
    gates = {gate.name: gate.value for gate in report.gates}
    assert f"{(found['untested share'][-1] or 0):.1%}" == gates["untested"]
    assert sum(value or 0 for value in found["new claims"]) == len(simulated.claims)
    assert {len(values) for values in found.values()} == {13}
    assert found["disagreement"][4] is None  # a stress round


def test_the_last_e_value_of_a_course_is_the_reported_one(simulated: State) -> None:
    courses = e_courses(simulated)
    for alarm in signals_of_state(simulated, "gates").alarms:
        if alarm.e_value is not None:
            assert courses[alarm.id][-1] == pytest.approx(float(alarm.e_value), rel=1e-3)


def test_an_unbegun_run_has_no_course() -> None:
    assert course(fold(())) == []


def test_the_reason_names_every_gate_that_fails_and_no_other(simulated: State) -> None:
    report = signals_of_state(simulated, "gates")
    said = because(report)
    assert said.startswith("Ready because" if report.ready else "Not ready because")
    assert ("are untested" in said) == (report.ready or not _gate(report.gates, "untested"))
    failing = because(signals_of_state(fold(()), "gates"))
    assert "no claim was raised yet" in failing
    assert "no round was held without the critic" in failing


def _gate(gates: Sequence[object], name: str) -> bool:
    return next(bool(getattr(gate, "ok", False)) for gate in gates if getattr(gate, "name", "") == name)


def test_by_count_the_missing_signals_are_named() -> None:
    book = sample_book()
    report = signals(book, "published")
    said = because(report)
    assert all(signal.id in said for signal in report.signals)
    assert f"{report.satisfied} of 6" in said
    assert ended(book.state).startswith("The run finished because")
    assert ended(sample_book(23).state) == "The run has not stopped."
