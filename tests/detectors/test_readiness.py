"""What the panel says of long scripted runs, round by round: a reader of the run agrees with each line."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import msgspec

import moot
from detectors.parameters import gate_parameters
from detectors.report import GateReading
from detectors.signals import signals
from detectors.stopping.gates import readings_of
from detectors.stopping.questions import deciding_questions
from detectors.stopping.readiness import counts_by_option
from ledger.events import Concern, Decision, RoundOpened, Signals, Verification
from ledger.state.book import Book
from ledger.state.fold import fold
from moot.view.stop_checks import because
from roles.protocol import Step
from rounds.run import human_actions
from rounds.run.session import RunSession
from tests.long_run import DECIDING, LEADER, QUESTIONS, RIVAL, UNTESTED, long_run, play as play_in_order
from tests.protocols.test_answers import Examiner, begin, finished
from tests.rounds.openings import play

QUESTION = "Who may open the archive at night?"


@cache
def long() -> Book:
    return moot.open_run(long_run()).book


def ends(book: Book) -> dict[int, int]:
    """Round → the last event of it."""
    opened = list(book.of(RoundOpened))
    closes = [event.seq - 1 for event in opened[1:]] + [book.events[-1].seq]
    return {event.round: last for event, last in zip(opened, closes, strict=True)}


def gate(book: Book, name: str, at: int | None = None) -> GateReading:
    found = signals(book, "gates", at)
    return next(one for one in found.gates if one.name == name)


def test_a_claim_that_compares_two_options_counts_for_both():
    tested = {
        claim
        for event in long().of(Verification)
        if event.check != "synthesis_resolution"
        for claim in event.claims_affected
    }
    about = [long().state.claims[claim].about for claim in tested]
    assert any(len(options) == 2 for options in about)
    found = counts_by_option(long().state)
    for option in (LEADER, RIVAL, UNTESTED):
        assert found[option].claims == sum(option in options for options in about)
        assert found[option].refuted <= found[option].claims


def test_a_rival_that_nobody_tested_fails_examined_in_every_round():
    for last in ends(long()).values():
        found = gate(long(), "examined", last)
        assert not found.ok
        assert f"{UNTESTED} 0" in (found.value or "")


def test_unblocked_fails_in_the_rounds_that_leave_a_deciding_question_open():
    """Round 3 marks a question, which is answered in round 5; round 11 marks one that round 8 asked unmarked."""
    ids = {event.text: str(event.id) for event in long().of(Concern)}
    open_after = {3: [3], 6: [], 9: [], 12: [11], 13: [11]}
    looks = {event.round: event.seq for event in long().of(Signals)}
    assert looks.keys() == open_after.keys()
    for round_, asked_in in open_after.items():
        questions = [ids[QUESTIONS[number - 1]] for number in asked_in]
        assert [one.id for one in deciding_questions(fold(long().events[: looks[round_]]))] == questions
        assert {DECIDING[number] for number in asked_in} <= {LEADER, RIVAL}
        found = gate(long(), "unblocked", looks[round_])
        assert found.ok == (not questions)
        assert all(question in (found.value or "") for question in questions)


def test_an_answer_closes_the_question_however_often_it_was_asked():
    answer = [event.seq for event in long().of(Decision) if event.type == "answer"][-1]
    (before,) = deciding_questions(fold(long().events[:answer]))
    assert before.rounds == (8, 11)
    assert deciding_questions(fold(long().events[: answer + 1])) == ()


def test_a_run_that_never_asked_for_an_answer_is_not_settled_and_cannot_become_ready(tmp_path: Path):
    session = begin(tmp_path / "run", positions="off")
    play(session, Examiner(4))
    book = session.book()
    assert gate(book, "settled").value == "not asked in this run"
    assert not gate(book, "settled").ok
    first = gate(book, "reachable", ends(book)[1])
    assert not first.ok
    assert not first.decides
    assert "no role is asked" in (first.value or "")


def inflation_alarms(book: Book) -> dict[int, str]:
    """Round → inflation or starvation, where FM-5 is alarmed by the installed thresholds."""
    found = {
        number: readings_of(fold(book.events[: last + 1]), gate_parameters())[4]
        for number, last in ends(book).items()
    }
    return {number: one.variant for number, one in found.items() if one.verdict == "ALARM"}


def test_a_flood_of_claims_speaks_from_the_third_round_on():
    assert inflation_alarms(long()) == dict.fromkeys(range(3, 14), "inflation")
    assert inflation_alarms(finished()) == {}


def test_a_mode_whose_bad_unit_the_forms_exclude_is_not_called_clear():
    told = {one.id: one for one in signals(long(), "gates").alarms}
    claims = len(long().state.claims)
    assert f"0 of {claims} in all name no outcome (by text), which is not measurable" in told["FM-5"].detail
    assert (told["FM-3"].verdict, told["FM-6"].verdict) == ("INSUFFICIENT", "INSUFFICIENT")
    assert told["FM-3"].detail.startswith("not measurable here: 0 of ")


def test_what_was_not_measured_stands_beside_ready():
    found = signals(long(), "gates")
    ready = msgspec.structs.replace(
        found, ready=True, stop=True, gates=[msgspec.structs.replace(gate, ok=True) for gate in found.gates]
    )
    assert "This is no all-clear: FM-3, FM-6 could not be measured." in because(ready)


def test_what_a_round_still_has_to_bring_is_no_lack_of_the_plan():
    """The drift check of the present round, and the last round itself, are still to come until they are done."""
    book = finished(moves=1)
    first, last = ends(book)[2] + 1, ends(book)[4]
    values = {True: set[bool](), False: set[bool]()}
    for event in book.events[first : last + 1]:
        value = gate(book, "reachable", event.seq).value or ""
        answered = fold(book.events[: event.seq + 1]).answered
        if "r3.H.verifier" not in answered:
            assert "drift" not in value
        values["r4.G.critic" in answered].add("no round is left" in value)
    assert values == {False: {False}, True: {True}}


class Asking(Examiner):
    """The lead of round 2 asks a person what decides."""

    def reply(self, book: Book, step: Step, saw: tuple[int, ...]) -> bytes:
        reply = json.loads(super().reply(book, step, saw))
        if step.task == "G":
            question = {"type": "question", "text": QUESTION, "severity": 2, "between": [], "evidence": []}
            asked = step.name.round == 2
            reply["concerns"] = [question | {"for_human": True, "deciding": "O-1"}] if asked else []
        return json.dumps(reply).encode()


def waiting(path: Path) -> RunSession:
    session = begin(path)
    play_in_order(session, Asking(4))
    assert not session.book().state.finished
    return session


def test_a_run_whose_questions_are_open_waits_for_a_person(tmp_path: Path):
    """Without the question it is ready after the same round, and it goes on with the answer."""
    session = waiting(tmp_path / "run")
    book = session.book()
    look = list(book.of(Signals))[-1]
    assert look.round == list(finished().of(Signals))[-1].round
    found = signals(book, "gates", look.seq)
    assert [one.name for one in found.gates if one.decides and not one.ok] == ["unblocked"]
    assert (found.verdict, found.stop, found.ready) == ("wait", True, False)
    (question,) = [str(event.id) for event in book.of(Concern) if event.text == QUESTION]
    assert found.waits_for == [question]
    human_actions.answer(session, question, "The two archivists.")
    play_in_order(session, Asking(4))
    assert session.book().state.finished
