"""The failure modes and gates on simulated ledgers of the tests' own: a slice by default, thousands with `-m campaign`.

The bounds of the campaign are the targets that are written down for these detectors; `docs/failure-modes.md` quotes
what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import pytest
from hypothesis import given, settings, strategies as st

from benchmarks.signal_worlds.ledgers import DECOYS, MODES as INJECTED, ROLES, Setting, Simulation, shuffled
from detectors.stopping.gates import judge
from ledger.events import Event
from ledger.format.canonical import BEGINNING, seal
from ledger.interchange.skill_export import export_skill
from ledger.interchange.skill_import import read_skill
from ledger.state.book import book
from ledger.state.fold import fold, step
from ledger.state.state import State
from ledger.store.store import RunStore
from tests.detectors.ledgers import Blobs
from tests.detectors.measured import NAMED, Course, course, settings as seeds, share, simulated
from tests.rounds.openings import begin, play

AT = "2026-01-01T00:00:00.000000Z"
Rows = Sequence[tuple[Simulation, Course]]
MODES = tuple(mode for mode in INJECTED if mode not in ("fm5s", "fm8"))
"""Starvation has a world of its own (`live`): here roles still raise two claims a round. FM-8 alarms in no gate."""
UNSAID = ("examined", "settled", "unblocked", "reachable")
"""Gates on what the published columns have no place for."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Of a failure mode over many ledgers: found at the alarm's threshold, named first, called ready; mean delay."""

    recall: float
    named_first: float
    ready: float
    delay_rounds: float
    onset_error_rounds: float


def _rows(ledgers: int, **fields: object) -> Rows:
    return [simulated(setting) for setting in seeds(ledgers, **fields)]


def _any_alarm(rows: Rows) -> float:
    return share(rows, lambda _, found: bool(found.alarms))


def _rates(mode: str, rows: Rows) -> Rates:
    named = NAMED[mode]
    hits = [(simulation, found) for simulation, found in rows if named in found.alarms]
    late = [found.alarms[named] - simulation.onset for simulation, found in hits]
    wrong = [abs((found.onset[named] or 0) - simulation.onset) for simulation, found in hits]
    return Rates(
        len(hits) / len(rows),
        share(hits, lambda _, found: found.alarms[named] == min(found.alarms.values())) if hits else 0.0,
        share(rows, lambda _, found: found.stop is not None),
        fmean(late) if late else 0.0,
        median(wrong) if wrong else 0.0,
    )


@pytest.mark.parametrize("fields", [{}, {"shift": 0.3, "seed_fields_only": True}, {"rounds": 9}])
def test_what_is_healthy_is_left_alone(fields: dict[str, object]) -> None:
    assert _any_alarm(_rows(8, **fields)) <= 0.125


@pytest.mark.parametrize("decoy", DECOYS)
def test_a_decoy_is_left_alone(decoy: str) -> None:
    """A narrow subject runs dry early, with claims left that no check tests: FM-5 says so."""
    assert _any_alarm(_rows(10, decoy=decoy)) <= (0.5 if decoy == "narrow" else 0.3)


@pytest.mark.parametrize("mode", MODES)
def test_a_failure_at_full_strength_is_found_and_seldom_called_ready(mode: str) -> None:
    rates = _rates(mode, _rows(6, failures={mode: 1.0}))
    assert rates.recall >= 0.8
    assert rates.named_first >= 0.6
    assert rates.ready <= 0.2


def test_two_failures_at_once_are_both_found() -> None:
    rows = _rows(6, failures={"fm1": 1.0, "fm6": 1.0})
    assert share(rows, lambda _, found: {"FM-1", "FM-6"} <= found.alarms.keys()) >= 0.8


def _verdicts(events: Iterable[Event]) -> list[object]:
    judged = judge(fold(events))
    gates = [(gate.name, gate.ok, gate.value) for gate in judged.gates]
    rows = [(one.id, one.verdict, one.e_value, one.onset_round, tuple(one.evidence)) for one in judged.alarms]
    return [judged.ready, judged.advice, *gates, *rows]


def _read(files: Mapping[str, bytes]) -> tuple[Event, ...]:
    return read_skill(files, None).events


def _some_ledger(seed: int, mode: str, seed_only: bool) -> dict[str, bytes]:
    failures = {} if mode == "healthy" else {mode: 1.0}
    return Simulation(Setting(seed=seed, failures=failures, rounds=9, seed_fields_only=seed_only)).files()


ledgers = st.builds(_some_ledger, st.integers(0, 10_000), st.sampled_from(["healthy", *MODES]), st.booleans())


@settings(max_examples=25, deadline=None)
@given(ledgers, st.integers(0, 1000))
def test_the_order_of_lines_changes_no_verdict(files: dict[str, bytes], seed: int) -> None:
    assert _verdicts(_read(shuffled(files, seed))) == _verdicts(_read(files))


def _renamed(files: Mapping[str, bytes], names: Mapping[str, str]) -> dict[str, bytes]:
    """Every role under another name: as an author, as an absentee, in the paths of what it wrote."""
    pattern = re.compile("|".join(rf'"{role}"|/{role}\.md' for role in names).encode())

    def other(found: re.Match[bytes]) -> bytes:
        role = next(role for role in names if role.encode() in found[0])
        return found[0].replace(role.encode(), names[role].encode())

    return {name: pattern.sub(other, content) for name, content in files.items()}


@settings(max_examples=25, deadline=None)
@given(ledgers, st.permutations(ROLES))
def test_the_names_of_roles_change_no_verdict(files: dict[str, bytes], names: Sequence[str]) -> None:
    renamed = _renamed(files, dict(zip(ROLES, names, strict=True)))
    assert _verdicts(_read(renamed)) == _verdicts(_read(files))


@settings(max_examples=25, deadline=None)
@given(ledgers)
def test_words_change_no_verdict_but_what_is_read_by_text(files: dict[str, bytes]) -> None:
    words = {
        b"The part fails.": b"It gives way in the end.",
        b"Do it this way.": b"Not like that.",
        b"whether the part fails": b"if a piece gives way",
        b'"tested"': b'"somebody looked at it"',
    }
    reworded = dict(files)
    for old, new in words.items():
        reworded = {name: content.replace(old, new) for name, content in reworded.items()}
    assert reworded != files
    assert _verdicts(_read(reworded)) == _verdicts(_read(files))


@settings(max_examples=15, deadline=None)
@given(ledgers)
def test_export_and_import_change_no_verdict(files: dict[str, bytes]) -> None:
    sealed = seal(_read(files), prev=BEGINNING.hash, seq=0, at=AT).events
    again = export_skill(book(sealed, Blobs())).files
    assert _verdicts(_read(again)) == _verdicts(sealed)


_FORMS = ("FM-2", "FM-3", "FM-6")
"""Modes that the forms of our own seats exclude: not measurable in a run of ours, measured in what was imported."""


def test_a_run_of_our_own_reads_the_same_after_export_and_import(tmp_path: Path) -> None:
    play(begin(tmp_path / "run", profile="gates"))
    ours = RunStore(tmp_path / "run").book()
    again = fold(_read(export_skill(ours).files))
    told = [
        [
            (one.id, None if one.id in _FORMS else one.verdict, one.e_value, one.onset_round, one.evidence)
            for one in judge(state).alarms
            if one.id not in ("FM-3", "FM-5", "FM-9")  # what forms ask for, and options, have no column there
        ]
        for state in (ours.state, again)
    ]
    assert told[0] == told[1]
    gates = [
        [(gate.name, gate.ok, gate.value) for gate in judge(state).gates] for state in (ours.state, again)
    ]
    ours_alone = {"alarms", "cautious", *UNSAID}
    assert [gate for gate in gates[0] if gate[0] not in ours_alone] == [
        gate for gate in gates[1] if gate[0] not in ours_alone
    ]


@settings(max_examples=15, deadline=None)
@given(ledgers, st.data())
def test_a_replayed_prefix_gives_the_verdict_of_that_moment(
    files: dict[str, bytes], data: st.DataObject
) -> None:
    events = seal(_read(files), prev=BEGINNING.hash, seq=0, at=AT).events
    cut = data.draw(st.integers(1, len(events)))
    state = State()
    for event in events[:cut]:
        step(state, event)
    assert judge(state) == judge(fold(events[:cut]))
    for event in events[cut:]:
        step(state, event)
    assert judge(state) == judge(fold(events))


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("fields", "most"), [({}, 0.05), ({"shift": 0.3}, 0.10), ({"shift": 0.3, "rounds": 18}, 0.10)]
)
def test_false_alarms_on_many_healthy_ledgers(fields: dict[str, object], most: float) -> None:
    found = _any_alarm(_rows(1000, **fields))
    print("healthy", fields, found)
    assert found <= most


@pytest.mark.campaign
def test_false_alarms_on_many_decoys() -> None:
    found = {decoy: _any_alarm(_rows(300, decoy=decoy)) for decoy in DECOYS}
    print(found)
    assert fmean(found.values()) <= 0.08
    assert max(found.values()) <= 0.15


@pytest.mark.campaign
def test_failures_at_full_strength_over_many_ledgers() -> None:
    found = {mode: _rates(mode, _rows(300, failures={mode: 1.0})) for mode in MODES}
    print(*found.items(), sep="\n")
    assert fmean(rates.recall for rates in found.values()) >= 0.97
    assert min(rates.recall for rates in found.values()) >= 0.92
    assert min(rates.named_first for rates in found.values()) >= 0.88
    assert fmean(rates.delay_rounds for rates in found.values()) <= 3.0
    assert fmean(rates.ready for rates in found.values()) <= 0.08
    assert max(rates.onset_error_rounds for rates in found.values()) <= 2


@pytest.mark.campaign
def test_weaker_failures_over_many_ledgers() -> None:
    """At 0.6 of full strength: what is alarmed, and what would be by a threshold with 5 % false alarms a mode."""
    healthy = _rows(300)
    recall: list[float] = []
    ranked: list[float] = []
    delays: list[float] = []
    ready: list[float] = []
    for mode in MODES:
        rows = _rows(200, failures={mode: 0.6})
        rates, named = _rates(mode, rows), NAMED[mode]
        limit = sorted(found.peak[named] for _, found in healthy)[int(0.95 * len(healthy))]
        recall.append(rates.recall)
        ranked.append(sum(found.peak[named] > limit for _, found in rows) / len(rows))
        delays.append(rates.delay_rounds)
        ready.append(rates.ready)
        print(mode, rates, ranked[-1])
    print("means", fmean(recall), fmean(ranked), fmean(delays), fmean(ready))
    assert fmean(recall) >= 0.68
    assert fmean(ranked) >= 0.85
    assert min(ranked) >= 0.68
    assert fmean(ready) <= 0.27


@pytest.mark.campaign
def test_sycophancy_shows_even_without_sealed_positions() -> None:
    healthy = sorted(found.peak["FM-1"] for _, found in _rows(400, seed_fields_only=True))
    threshold = healthy[int(0.95 * len(healthy))]
    failing = _rows(400, failures={"fm1": 1.0}, seed_fields_only=True)
    assert share(failing, lambda _, found: found.peak["FM-1"] > threshold) >= 0.5


@pytest.mark.campaign
def test_evidence_is_what_was_injected() -> None:
    for mode in ("fm1", "fm2", "fm6"):
        named = [
            identity in simulation.injected
            for simulation, found in _rows(200, failures={mode: 1.0})
            for identity in found.evidence[NAMED[mode]]
        ]
        print(mode, fmean(named))
        assert fmean(named) >= 0.8


def test_a_course_of_a_labelled_layout_is_read(tmp_path: Path) -> None:
    files = Simulation(Setting(seed=1)).files()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert course({path.name: path.read_bytes() for path in tmp_path.iterdir()}) == course(files)
