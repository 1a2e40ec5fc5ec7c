"""Checks that are judged twice: blind to the first verdict, moving nothing, and what their agreement decides."""

from __future__ import annotations

from pathlib import Path

import msgspec
import orjson
import pytest

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.calibrated.agreement import agreement, alpha, interval, repeated_pairs, share_at_most
from detectors.calibrated.parameters import calibrated_parameters
from detectors.signals import signals_of_state
from ledger.events import Verification
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold
from ledger.state.state import State
from ledger.store.store import RunStore
from rounds.protocols import protocol_of
from rounds.run.controller import Controller
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession, start
from rounds.run.verdicts import standard
from tests.rounds.openings import clock, opening, play, rows


def _session(path: Path, again: str) -> RunSession:
    event, blobs = opening(rows(4, absent={3: "critic"}), profile="calibrated")
    event = msgspec.structs.replace(event, rules={**event.rules, "rejudge": again})
    return start(path, event, blobs=blobs, files={}, verdicts=standard, clock=clock(), sync=False)


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> RunStore:
    path = tmp_path_factory.mktemp("twice") / "run"
    assert play(_session(path, "2")).state == "finished"
    return RunStore(path)


def test_a_second_judgement_names_the_first_and_moves_nothing(twice: RunStore) -> None:
    again = [event for event in twice.events() if isinstance(event, Verification) and event.repeats]
    assert {event.round for event in again} == {1, 2, 3, 4}
    for event in again:
        first = twice.book().by_id[event.repeats or ""]
        assert isinstance(first, Verification)
        assert (first.check_id, first.check, first.round) == (event.check_id, event.check, event.round)
        assert event.claim_status_changes == ()
        assert event.step == f"r{event.round}.E.check{event.check_id}.verifier~2"
        assert (event.id or "").split("-")[2] >= "5"
    moved = {move.by for claim in twice.book().state.claims.values() for move in claim.moves}
    assert not moved & {event.id for event in again}


def test_it_is_asked_the_same_in_another_order_and_sees_no_verdict_that_the_first_did_not(
    twice: RunStore,
) -> None:
    for event in twice.events():
        if not (isinstance(event, Verification) and event.repeats and event.call):
            continue
        first = twice.book().by_id[event.repeats]
        assert first.call is not None
        assert event.saw == first.saw
        ours, theirs = (
            [block["name"] for block in orjson.loads(twice.blobs.read(one.brief) or b"")["blocks"]]
            for one in (event.call, first.call)
        )
        assert sorted(ours) == sorted(theirs)
        artifacts = [name for name in ours if name.startswith("A-")]
        assert artifacts == [name for name in theirs if name.startswith("A-")][::-1]
        assert len(artifacts) >= 2


def test_the_ledger_is_sound_and_executes_again(twice: RunStore) -> None:
    book = twice.book()
    opened = book.state.opened
    assert opened is not None
    protocol = protocol_of(opened)
    report = standard(protocol).check(book)
    assert [finding for finding in report.findings if finding.severity == "error"] == []
    assert re_execute(book, protocol, Controller(protocol, standard(protocol))).identical


def test_without_the_rule_nothing_is_judged_twice(tmp_path: Path) -> None:
    assert play(_session(tmp_path / "run", "0")).state == "finished"
    assert repeated_pairs(RunStore(tmp_path / "run").book().state) == []


def test_alpha_by_hand() -> None:
    """Krippendorff's own example for two observers and nominal data: 10 units, 4 of them alike in both."""
    agree = [("a", "a")] * 8 + [("b", "b")] * 2
    assert alpha(agree) == 1.0
    mixed = [("a", "a")] * 4 + [("b", "b")] * 4 + [("a", "b"), ("b", "a")]
    assert alpha(mixed) == pytest.approx(1 - 0.2 / (1 - (10 * 9 * 2) / (20 * 19)))
    assert alpha([("a", "a")] * 3) == 1.0
    low, high = interval(mixed)
    assert low <= alpha(mixed) <= high
    assert interval(mixed) == (low, high)


def test_the_bound_on_flips_is_the_exact_one() -> None:
    assert share_at_most(0, 20) == pytest.approx(1 - 0.05 ** (1 / 20), abs=1e-6)
    assert share_at_most(5, 5) == 1.0


def _repeating(flips: int, of: int) -> State:
    """A simulated ledger some of whose verdicts were given twice."""
    files = Simulation(Setting(seed=8)).files()
    lines = [orjson.loads(line) for line in files["verifications.jsonl"].splitlines()]
    made = [row for row in lines if row["result"] != "NOT_APPLICABLE"][:of]
    other = {"ROBUST": "BROKEN", "BROKEN": "ROBUST", "UNCLEAR": "ROBUST"}
    for n, row in enumerate(made):
        again = {key: row[key] for key in ("round", "check", "evidence_refs", "notes")}
        result = other[row["result"]] if n < flips else row["result"]
        lines.append(again | {"id": f"V-{row['round']}-{n + 20}", "result": result, "repeats": row["id"]})
    files["verifications.jsonl"] = b"".join(orjson.dumps(row) + b"\n" for row in lines)
    return fold(read_skill(files, None).events)


def test_verdicts_that_do_not_repeat_withhold_ready_and_mark_every_e_value() -> None:
    report = signals_of_state(_repeating(6, 12), "calibrated")
    assert not report.ready
    (gate,) = [gate for gate in report.gates if gate.name == "judges"]
    assert not gate.ok
    assert all("verdicts unreliable" in alarm.detail for alarm in report.alarms)


def test_verdicts_that_repeat_change_nothing_else() -> None:
    with_, without = (
        signals_of_state(_repeating(0, 12), "calibrated"),
        signals_of_state(_repeating(0, 0), "calibrated"),
    )
    assert [gate for gate in with_.gates if gate.name != "judges"] == without.gates
    assert [alarm.e_value for alarm in with_.alarms] == [alarm.e_value for alarm in without.alarms]
    assert next(gate for gate in with_.gates if gate.name == "judges").ok


def test_a_few_repeats_decide_nothing() -> None:
    few = _repeating(3, 5)
    found = agreement(few, calibrated_parameters().judges)
    assert found is not None
    assert (found.repeats, found.flips, found.alpha, found.unreliable) == (5, 3, None, False)
    assert "judges" not in {gate.name for gate in signals_of_state(few, "calibrated").gates}
