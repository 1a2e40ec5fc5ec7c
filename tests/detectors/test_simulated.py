"""The calibrated detectors on simulated ledgers of the tests' own: a slice by default, hundreds with `-m campaign`."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from detectors.calibrated.judgement import judge, readings_of
from detectors.calibrated.reading import Reading
from ledger.fold import fold
from ledger.interchange.skill_import import read_skill
from ledger.state import State
from tests.detectors.simulated import DECOYS, MODES, Simulation, shuffled

NAMED = {"fm5i": "FM-5", "fm5s": "FM-5"} | {f"fm{n}": f"FM-{n}" for n in (1, 2, 3, 4, 6, 7, 8)}


@dataclass(frozen=True, slots=True)
class Rates:
    """Over many ledgers of one mode: any alarm, the right alarm, the right one first, ready; mean delay in rounds."""

    any_alarm: float
    recall: float
    named_first: float
    ready: float
    delay_rounds: float


def _state(files: dict[str, bytes]) -> State:
    return fold(read_skill(files, None).events)


def _alarms(state: State) -> list[Reading]:
    return [reading for reading in readings_of(state) if reading.verdict == "ALARM"]


def measure(mode: str, strength: float, ledgers: int) -> Rates:
    """Simulate and count."""
    any_alarm = hits = first = ready = 0
    delays: list[int] = []
    for seed in range(ledgers):
        simulation = Simulation(seed, mode, strength)
        state = _state(simulation.files())
        alarms = _alarms(state)
        any_alarm += bool(alarms)
        ready += judge(state).ready
        mine = [alarm for alarm in alarms if alarm.mode == NAMED.get(mode)]
        if mine:
            hits += 1
            delays.append((mine[0].alarm_round or 0) - simulation.onset)
            first += min(alarms, key=lambda alarm: alarm.alarm_round or 0).mode == NAMED[mode]
    return Rates(
        any_alarm / ledgers,
        hits / ledgers,
        first / hits if hits else 0.0,
        ready / ledgers,
        sum(delays) / len(delays) if delays else 0.0,
    )


@pytest.mark.parametrize("mode", ["healthy", *DECOYS])
def test_what_is_healthy_is_left_alone(mode: str) -> None:
    assert measure(mode, 1.0, 8).any_alarm <= 0.125


@pytest.mark.parametrize("mode", MODES)
def test_a_failure_at_full_strength_is_found_and_never_called_ready(mode: str) -> None:
    rates = measure(mode, 1.0, 8)
    assert rates.recall >= 0.75
    assert rates.named_first >= 0.75
    assert rates.ready == 0


@pytest.mark.parametrize("mode", ["healthy", "fm1", "fm5i", "fm8"])
def test_the_order_of_lines_changes_nothing(mode: str) -> None:
    files = Simulation(3, mode).files()
    assert readings_of(_state(shuffled(files, 1))) == readings_of(_state(files))


def test_words_change_nothing_but_what_is_read_by_text() -> None:
    files = Simulation(3, "fm1").files()
    reworded = {name: content.replace(b"part fails", b"piece gives way") for name, content in files.items()}
    reworded = {
        name: content.replace(b"Do it this way.", b"Not like that.") for name, content in reworded.items()
    }
    assert readings_of(_state(reworded)) == readings_of(_state(files))


@pytest.mark.campaign
def test_rates_over_many_ledgers() -> None:
    healthy = measure("healthy", 1.0, 300)
    decoys = [measure(mode, 1.0, 200) for mode in DECOYS]
    full = {mode: measure(mode, 1.0, 200) for mode in MODES}
    print("healthy", healthy, *zip(DECOYS, decoys, strict=True), *full.items(), sep="\n")
    assert healthy.any_alarm <= 0.05
    assert sum(rates.any_alarm for rates in decoys) / len(decoys) <= 0.08
    assert max(rates.any_alarm for rates in decoys) <= 0.15
    assert sum(rates.recall for rates in full.values()) / len(full) >= 0.97
    assert min(rates.recall for rates in full.values()) >= 0.92
    assert sum(rates.delay_rounds for rates in full.values()) / len(full) <= 3.0
    assert min(rates.named_first for rates in full.values()) >= 0.88
    assert sum(rates.ready for rates in full.values()) / len(full) <= 0.08
