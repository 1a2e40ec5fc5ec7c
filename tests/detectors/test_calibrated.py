"""The profile `calibrated`: the engine against vectors and a slow oracle, the failure modes on known ledgers."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.calibrated.betting import Stream, count_stream, e_values, onset_round, printed, share_stream
from detectors.signals import signals_of_state
from ledger.events import Event
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold
from tests.data import LABELS

VECTORS = [
    # Two published digits do not follow from the formula and its other values: 3.647 (here 5.647), 543.4902 (545.4902).
    (
        share_stream([(1, 4), (0, 4), (2, 5), (4, 5), (4, 5), (5, 6)], 0.22, (0.5, 0.65, 0.8, 0.92)),
        [0.941, 0.8524, 0.8231, 4.4621, 126.1263, 15300.7143],
    ),
    (
        share_stream([(0, 3), (0, 4), (1, 4), (3, 4), (2, 2), (4, 4)], 0.12, (0.3, 0.5, 0.75)),
        [0.9413, 0.8649, 0.8466, 5.647, 121.7244, 133494.2461],
    ),
    (
        share_stream([(0, 0)] * 4 + [(6, 9), (7, 9), (6, 8)], 0.54, (0.64, 0.73, 0.85)),
        [1, 1, 1, 1, 1.0116, 1.6928, 2.7527],
    ),
    (
        count_stream([(7, 6.4), (6, 6.4), (9, 6.4), (14, 6.4), (15, 4.8)], (1.25, 1.6, 2.1)),
        [0.9666, 0.9017, 0.9449, 3.8519, 545.4902],
    ),
    (
        count_stream([(1, 1.6), (2, 1.6), (1, 1.6), (6, 1.6), (7, 1.2)], (1.6, 2.4, 4)),
        [0.9462, 0.9099, 0.8223, 2.7716, 486.3393],
    ),
]


@pytest.mark.parametrize(("stream", "expected"), VECTORS)
def test_golden_vectors(stream: Stream, expected: Sequence[float]) -> None:
    assert [round(value, 4) for value in e_values(stream, 13)] == pytest.approx(expected, abs=6e-5)


def _plain(counts: Sequence[tuple[int, int]], p0: float, grid: Sequence[float], planned: int) -> list[float]:
    """The formula as it is written, without logarithms."""
    money = [0.0] * len(grid)
    found: list[float] = []
    for t, (x, n) in enumerate(counts, 1):
        for k, p1 in enumerate(grid):
            stake = 1 / planned if t <= planned else 0.0
            money[k] = (money[k] + stake) * (p1 / p0) ** x * ((1 - p1) / (1 - p0)) ** (n - x)
        found.append(sum(money) / len(money) + max(0.0, 1 - t / planned))
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


MODES = {"fm5i": "FM-5", "fm5s": "FM-5"} | {f"fm{n}": f"FM-{n}" for n in (1, 2, 3, 4, 6, 7, 8)}


def test_what_was_injected_is_alarmed() -> None:
    """Ledger 28 carries nothing that its failure could be seen by (no counts of findings)."""
    missed: list[object] = []
    for label in _labels():
        report = signals_of_state(fold(_events(str(label["ledger"]))), "calibrated")
        alarms = {alarm.id for alarm in report.alarms if alarm.verdict == "ALARM"}
        failure = [MODES[name] for name in label["failure"]]  # type: ignore[attr-defined]  # a list of names
        missed += [label["ledger"] for mode in failure if mode not in alarms]
    assert missed == ["28"]


def test_healthy_ledgers_and_decoys_are_left_alone() -> None:
    alarmed = []
    for label in _labels():
        if not label["failure"]:
            report = signals_of_state(fold(_events(str(label["ledger"]))), "calibrated")
            alarmed += [label["ledger"] for alarm in report.alarms if alarm.verdict == "ALARM"]
    assert len(alarmed) <= 1, alarmed


def test_no_failing_ledger_is_called_ready() -> None:
    ready = []
    for label in _labels():
        if label["failure"] and label["ledger"] != "28":
            report = signals_of_state(fold(_events(str(label["ledger"]))), "calibrated")
            ready += [label["ledger"]] if report.ready else []
    assert ready == []


def test_an_empty_run_is_not_ready() -> None:
    report = signals_of_state(fold(()), "calibrated")
    assert not report.ready
    assert {alarm.verdict for alarm in report.alarms} == {"INSUFFICIENT"}
