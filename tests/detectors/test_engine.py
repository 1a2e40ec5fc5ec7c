"""The failure modes: the engine against vectors and a slow oracle, the failure modes on known ledgers."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from detectors.signals import signals_of_state
from detectors.stopping.reading import e_values, onset_round, printed, share_stream
from ledger.events import Event
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold
from tests.data import LABELS


def _plain(counts: Sequence[tuple[int, int]], p0: float, grid: Sequence[float], planned: int) -> list[float]:
    """The formula as it is written, without logarithms."""
    money = [0.0] * len(grid)
    found: list[float] = []
    for t, (x, n) in enumerate(counts, 1):
        for k, p1 in enumerate(grid):
            stake = 2 * max(0, planned + 1 - t) / (planned * (planned + 1))
            money[k] = (money[k] + stake) * (p1 / p0) ** x * ((1 - p1) / (1 - p0)) ** (n - x)
        left = max(0, planned - t)
        found.append(sum(money) / len(money) + left * (left + 1) / (planned * (planned + 1)))
    return found


@given(
    st.lists(st.integers(0, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=20),
    st.integers(1, 16),
)
def test_the_engine_is_the_formula(counts: list[tuple[int, int]], planned: int) -> None:
    grid = (0.3, 0.5, 0.75)
    expected = _plain(counts, 0.12, grid, planned)
    assert list(e_values(share_stream(counts, 0.12, grid), planned)) == pytest.approx(expected, rel=1e-9)


def test_no_data_is_one() -> None:
    assert e_values(share_stream([(0, 0)] * 5, 0.2, (0.5,)), 13) == pytest.approx([1.0] * 5)


def test_the_onset_is_where_it_began() -> None:
    stream = share_stream([(0, 5)] * 6 + [(5, 5)] * 4, 0.2, (0.5, 0.8))
    assert onset_round([stream], 13) == 7


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (0.94131, "0.9413"), (15300.7143, "15301"), (2e9, "1000000"), (0.0, "0")]
)
def test_e_values_are_printed_to_four_digits(value: float, text: str) -> None:
    assert printed(value) == text


def _events(ledger: str) -> Sequence[Event]:
    folder = LABELS.parent / ledger
    return read_skill({path.name: path.read_bytes() for path in folder.iterdir()}, None).events


def _labels() -> list[dict[str, object]]:
    labels: list[dict[str, object]] = json.loads(LABELS.read_bytes())
    return labels


MODES = {"fm5i": "FM-5", "fm5s": "FM-5"} | {f"fm{n}": f"FM-{n}" for n in (1, 2, 3, 4, 6, 7)}


def test_what_was_injected_is_alarmed() -> None:
    missed: list[object] = []
    for label in _labels():
        report = signals_of_state(fold(_events(str(label["ledger"]))), "gates")
        alarms = {alarm.id for alarm in report.alarms if alarm.verdict == "ALARM"}
        failure = [MODES[name] for name in label["failure"] if name in MODES]  # type: ignore[attr-defined]  # a list of names
        missed += [label["ledger"] for mode in failure if mode not in alarms]
    assert missed == []


def test_healthy_ledgers_and_decoys_are_left_alone() -> None:
    alarmed = []
    for label in _labels():
        if not label["failure"]:
            report = signals_of_state(fold(_events(str(label["ledger"]))), "gates")
            alarmed += [label["ledger"] for alarm in report.alarms if alarm.verdict == "ALARM"]
    assert len(alarmed) <= 1, alarmed


def test_no_failing_ledger_is_called_ready() -> None:
    ready = []
    for label in _labels():
        if label["failure"] and label["ledger"] != "28":
            report = signals_of_state(fold(_events(str(label["ledger"]))), "gates")
            ready += [label["ledger"]] if report.ready else []
    assert ready == []


def test_an_empty_run_is_not_ready() -> None:
    report = signals_of_state(fold(()), "gates")
    assert not report.ready
    assert {alarm.verdict for alarm in report.alarms} == {"INSUFFICIENT"}
