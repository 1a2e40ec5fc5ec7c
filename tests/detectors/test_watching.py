"""The judgement kept up to date event by event is that of the prefix, and a look does not read the ledger again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.signal_worlds.ledgers import MODES, Setting, Simulation
from detectors.stopping.judgement import RunningJudgement, judge
from detectors.stopping.rounds import RoundIndex, count_round, count_rounds, index_rounds
from ledger.events import Event
from ledger.format.chain import BEGINNING, seal
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold
from ledger.store.store import RunStore
from tests.rounds.openings import begin, play

AT = "2026-01-01T00:00:00.000000Z"


def _events(seed: int, mode: str) -> tuple[Event, ...]:
    files = Simulation(Setting(seed=seed, failures={mode: 1.0}, rounds=7)).files()
    return seal(read_skill(files, None).events, prev=BEGINNING.hash, seq=0, at=AT).events


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(MODES))
def test_every_look_is_that_of_the_prefix(seed: int, mode: str) -> None:
    watch, events = RunningJudgement(), _events(seed, mode)
    for number, event in enumerate(events, 1):
        watch.take(event)
        if number % 7 == 0 or number == len(events):
            assert watch.judgement() == judge(fold(events[:number]))


def test_a_run_of_our_own_is_watched_the_same(tmp_path: Path) -> None:
    play(begin(tmp_path / "run", profile="gates"))
    events = RunStore(tmp_path / "run").events()
    watch, index = RunningJudgement(), RoundIndex()
    for number, event in enumerate(events, 1):
        watch.take(event)
        index.take(event)
        if number % 25 == 0 or number == len(events):
            assert watch.judgement() == judge(fold(events[:number]))
    whole = index_rounds(fold(events))
    assert {n: held for n, held in index.rounds.items() if n} == {
        n: held for n, held in whole.rounds.items() if n
    }
    assert index.cited == whole.cited


def test_a_look_counts_only_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def counting(state: object, index: object, number: int, references: int) -> object:
        counted.append(number)
        return count_round(state, index, number, references)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr("detectors.stopping.judgement.count_round", counting)
    watch, events = RunningJudgement(), _events(3, "fm1")
    for event in events:
        watch.take(event)
        watch.rounds()
        assert set(counted) <= {event.round - 1, event.round, event.round + 1}
        counted.clear()
    assert watch.rounds() == count_rounds(fold(events), 2)
    assert counted == []
