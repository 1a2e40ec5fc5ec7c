"""What the panel shows beside the verdicts: the course of a run as numbers, and the reason in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.course import course
from detectors.signals import signals, signals_of_state
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold
from ledger.state.state import State
from moot.view.stop_checks import because, ended
from moot.view.text import numbers
from tests.render.sample import sample_book


@pytest.fixture(scope="module")
def simulated() -> State:
    return fold(read_skill(Simulation(Setting(seed=3)).files(), None).events)


def test_a_gap_is_a_dot() -> None:
    assert numbers([7, None, 4.5], False) == "7 · 4.5"
    assert numbers([1.0, 0.305], True) == "100 30 %"


def test_the_course_is_what_the_gates_read(simulated: State) -> None:
    found = {one.name: one.values for one in course(simulated)}
    report = signals_of_state(simulated, "gates")
    gates = {gate.name: gate.value for gate in report.gates}
    assert f"{(found['untested share'][-1] or 0):.1%}" == gates["untested"]
    assert sum(value or 0 for value in found["new claims"]) == len(simulated.claims)
    assert {len(values) for values in found.values()} == {13}
    assert found["disagreement"][4] is None  # a stress round


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
