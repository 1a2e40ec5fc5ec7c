"""What the panel says of the recorded long runs, round by round: a reader of the run agrees with each line."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pytest

import moot
from detectors.report import GateReading
from detectors.signals import signals
from detectors.stopping.judgement import readings_of
from detectors.stopping.parameters import gate_parameters
from detectors.stopping.questions import deciding_questions
from detectors.stopping.readiness import counts_by_option
from ledger.events import Alarm, Claim, Decision, RoundOpened, Signals
from ledger.state.fold import fold
from moot.app.run import Run
from moot.view.stopping import because

RUNS = Path("runs/examples")
LIBRARY, MINIMUM, STANDARD = "library-minimum-8", "storage-minimum-8", "storage-standard-13"
CHURCH, FERRY, RESCUE = "structured-church", "structured-ferry", "structured-rescue"


@cache
def recorded(name: str) -> Run:
    return moot.open_run(RUNS / name)


def ends(run: Run) -> dict[int, int]:
    """Round → the last event of it."""
    opened = [event for event in run.events if isinstance(event, RoundOpened)]
    closes = [event.seq - 1 for event in opened[1:]] + [run.events[-1].seq]
    return {event.round: last for event, last in zip(opened, closes, strict=True)}


def gate(run: Run, name: str, at: int | None = None) -> GateReading:
    found = signals(run.book, "gates", at)
    return next(one for one in found.gates if one.name == name)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        (MINIMUM, {"O-1": 0, "O-2": 22, "O-3": 7}),
        (LIBRARY, {"O-1": 18, "O-2": 0, "O-3": 39}),
        (STANDARD, {"O-1": 5, "O-2": 98, "O-3": 11}),
    ],
)
def test_a_claim_that_compares_two_options_counts_for_both(name: str, counts: dict[str, int]):
    found = counts_by_option(recorded(name).state)
    assert {option: count.claims for option, count in found.items()} == counts
    assert all(count.refuted <= count.claims for count in found.values())


@pytest.mark.parametrize(("name", "rival"), [(MINIMUM, "O-1"), (LIBRARY, "O-2")])
def test_a_rival_that_nobody_tested_fails_examined_in_every_round(name: str, rival: str):
    run = recorded(name)
    for last in ends(run).values():
        found = gate(run, "examined", last)
        assert not found.ok
        assert f"{rival} 0" in (found.value or "")


UNANSWERED = {
    CHURCH: {1: ("N-1-10",), 2: ("N-2-7",), 3: ("N-3-15", "N-3-16")},
    FERRY: {
        1: ("N-1-11",),
        2: ("N-2-7", "N-2-11"),
        3: ("N-3-11", "N-3-12"),
        4: ("N-3-12", "N-4-11", "N-4-12"),
    },
    RESCUE: {1: ("N-1-9", "N-1-10"), 2: ("N-2-8", "N-2-9"), 3: ("N-2-8", "N-2-9", "N-3-10")},
}
"""Questions that a careful reader of the three runs finds open after each round."""


@pytest.mark.parametrize("name", UNANSWERED)
def test_unblocked_fails_in_the_rounds_that_leave_a_question_open(name: str):
    run = recorded(name)
    for number, questions in UNANSWERED[name].items():
        at = next(event.seq for event in run.events if isinstance(event, Signals) and event.round == number)
        assert tuple(one.id for one in deciding_questions(fold(run.events[:at]))) == questions
        found = gate(run, "unblocked", at)
        assert not found.ok
        assert all(question in (found.value or "") for question in questions[:3])


def test_an_answer_closes_the_question_however_often_it_was_asked():
    run = recorded(CHURCH)
    answer = next(event.seq for event in run.events if isinstance(event, Decision) and event.type == "answer")
    assert [one.id for one in deciding_questions(fold(run.events[: answer + 1]))] == ["N-3-16"]


@pytest.mark.parametrize("name", [MINIMUM, LIBRARY, STANDARD])
def test_a_run_that_never_asked_for_an_answer_is_not_settled_and_cannot_become_ready(name: str):
    run = recorded(name)
    assert gate(run, "settled").value == "not asked in this run"
    assert not gate(run, "settled").ok
    first = gate(run, "reachable", ends(run)[1])
    assert not first.ok
    assert not first.decides
    assert "no role is asked" in (first.value or "")


def inflation_alarms(name: str) -> dict[int, str]:
    """Round → flood or famine, where FM-5 is alarmed by the installed thresholds."""
    run = recorded(name)
    found = {
        number: readings_of(fold(run.stream(last)), gate_parameters())[4]
        for number, last in ends(run).items()
    }
    return {number: one.variant for number, one in found.items() if one.verdict == "ALARM"}


@pytest.mark.parametrize("name", [STANDARD, LIBRARY, MINIMUM])
def test_no_famine_is_seen_where_prompts_ask_for_one_claim_an_artifact(name: str):
    assert "famine" not in inflation_alarms(name).values()


def test_a_flood_speaks_in_the_run_of_124_claims_from_its_third_round_on():
    assert set(inflation_alarms(MINIMUM)) == set(range(3, 9))
    assert inflation_alarms(LIBRARY) == {}
    assert set(inflation_alarms(STANDARD)) == set(range(5, 14))


def test_a_mode_whose_bad_unit_the_forms_exclude_is_not_called_clear():
    told = {one.id: one for one in signals(recorded(MINIMUM).book, "gates").alarms}
    assert "0 of 124 in all name no outcome (by text), which is not measurable" in told["FM-5"].detail
    told = {one.id: one for one in signals(recorded(STANDARD).book, "gates").alarms}
    assert (told["FM-3"].verdict, told["FM-6"].verdict) == ("INSUFFICIENT", "INSUFFICIENT")
    assert told["FM-3"].detail.startswith("not measurable here: 0 of 151 where 10% is tolerated")


def test_what_was_not_measured_stands_beside_ready():
    found = signals(recorded(STANDARD).book, "gates")
    ready = msgspec.structs.replace(
        found, ready=True, stop=True, gates=[msgspec.structs.replace(gate, ok=True) for gate in found.gates]
    )
    assert "This is no all-clear: FM-3, FM-6 could not be measured." in because(ready)


def test_what_a_round_still_has_to_bring_is_no_lack_of_the_plan():
    """The drift check of the present round, and the last round itself, are still to come until they are done."""
    run = recorded("structured-ferry")
    first, last = ends(run)[2] + 1, ends(run)[4]
    for event in run.events[first : last + 1]:
        value = gate(run, "reachable", event.seq).value or ""
        answered = fold(run.events[: event.seq + 1]).answered
        if "r3.H.verifier" not in answered:
            assert "drift" not in value
        if "r4.G.critic" not in answered:
            assert "no round is left" not in value
    assert "no round is left" in (gate(run, "reachable", last).value or "")


def test_a_run_whose_questions_are_open_waits_for_a_person():
    """It stopped as ready by earlier gates, with two questions open that its roles had asked again and again."""
    run = recorded(CHURCH)
    look = next(event.seq for event in run.events if isinstance(event, Signals) and event.stop)
    found = signals(run.book, "gates", look)
    assert [one.name for one in found.gates if one.decides and not one.ok] == ["unblocked"]
    assert (found.verdict, found.stop, found.ready) == ("wait", True, False)
    assert found.waits_for == ["N-3-15", "N-3-16"]


def test_an_alarm_turned_the_claims_to_the_rivals():
    run = recorded("structured-rescue")
    alarm = next(event for event in run.events if isinstance(event, Alarm))
    assert (alarm.fm, alarm.action, alarm.round) == ("FM-9", "raised", 3)
    claims = [event for event in run.events if isinstance(event, Claim)]
    without = {
        when: [
            claim.about for claim in claims if (claim.seq > alarm.seq) == when and "O-1" not in claim.about
        ]
        for when in (False, True)
    }
    assert without[False] == []  # of 21 claims before it none was about the rivals and not about what led
    assert len(without[True]) >= 5
