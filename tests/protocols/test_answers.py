"""E.belief of `structured`: every role seals what it would answer now, one role twice, and a run stops by it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from detectors.signals import signals
from detectors.stopping.readiness import counted_alone
from ledger.events import Alarm, Belief, RoundOpened, Signals
from ledger.state.book import Book
from moot.view.event_lines import event_lines
from moot.view.stop_checks import what_a_plan_lacks
from roles.protocol import Step
from roles.seats.port import Answer
from rounds.protocols import protocol_of
from rounds.run.controller import Controller
from rounds.run.reexecution import re_execute
from rounds.run.session import ReplyRefused, RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.rounds.openings import clock, play
from tests.rounds.scripted import Script
from validators import rulebook

OPTIONS = ("O-1", "O-2", "O-3")


def begin(path: Path, options: tuple[str, ...] = OPTIONS, **subject: Any) -> RunSession:
    table = {
        "deliberation": {
            "question": "Which storage keeps every line?",
            "goals": ["No line is lost"],
            "options": [f"storage {option}" for option in options],
            "plan": "short-5",
            **subject,
        }
    }
    opening = resolve(checked(table), {}, moot="0.1.0")
    return start(path, opening.event, blobs=opening.blobs, verdicts=standard, clock=clock(), files={})


class Examiner(Script):
    """The script, but claims that are about each option in turn and are tested in their round."""

    def __init__(self, seed: int = 0, how: str = "document", moves: int = 0, blind: bool = False) -> None:
        super().__init__(seed)
        self.how, self.moves, self.blind = how, moves, blind

    def reply(self, book: Book, step: Step, saw: tuple[int, ...]) -> bytes:
        made = json.loads(super().reply(book, step, saw))
        for place, draft in enumerate(made.get("proposed_claims", ())):
            draft["about"] = [self._option(book, step, place)] if book.state.options else []
            draft["how"], draft["supersedes"] = self.how, None
            draft["anchor_ref"] = "G-1"
        if step.task.startswith("E.check"):
            made["result"] = "UNCLEAR" if self.how == "execution" else made["result"]
            bearing = {"ROBUST": "supports", "BROKEN": "partly_contradicts", "UNCLEAR": "inconclusive"}
            known = [book.events[seq] for seq in saw]
            own = [one for one in known if one.kind == "claim" and one.round == step.name.round]
            made["claims"] = [
                {"claim_id": one.id, "bearing": bearing[made["result"]], "evidence": made["evidence"][:1]}
                for one in own
            ]
        if step.task == "E.belief" and self.moves:
            first = (20, 80)[step.name.round % 2] if self.moves else 80
            for one, points in zip(made["belief"], (first, 100 - first), strict=True):
                one["points"] = points
        return json.dumps(made).encode()

    def _option(self, book: Book, step: Step, place: int) -> str:
        """Each in turn; a blind one leaves O-3 out until the focus of the round is on it."""
        if self.blind and "O-3" not in book.state.rounds[step.name.round].focus:
            return OPTIONS[(place + len(step.role)) % 2]
        return "O-3" if self.blind else OPTIONS[(place + len(step.role)) % 3]


@cache
def finished(how: str = "document", moves: int = 0) -> Book:
    session = begin(Path(mkdtemp()) / "run")
    play(session, Examiner(4, how, moves))
    return session.book()


def test_every_role_answers_once_a_round() -> None:
    first = [event.id for event in finished().of(Belief) if event.round == 1]
    assert first == [f"B-1-{role}" for role in ("action", "guardian", "observer", "critic")]
    assert {event.phase for event in finished().of(Belief)} == {"E"}
    assert not finished().state.positions


def test_a_run_asks_whatever_another_run_of_the_process_does(tmp_path: Path) -> None:
    """Old: after a run without forecasts no later run of the same process asked for them."""
    for name, positions in (("first", "off"), ("second", "beliefs"), ("third", "off")):
        session = begin(tmp_path / name, positions=positions)
        play(session, Examiner(4))
        assert bool(session.book().state.beliefs) == (positions == "beliefs")


def test_answers_are_shown_to_nobody() -> None:
    sealed = {event.seq for event in finished().of(Belief)}
    assert sealed
    assert not [event.seq for event in finished().events if event.saw and sealed & set(event.saw)]


def test_a_run_breaks_no_rule_and_is_executed_again_to_the_same_head() -> None:
    protocol = protocol_of(finished().state.opening)
    report = rulebook.check(finished(), standard(protocol).context())
    assert [one for one in report.findings if one.severity == "error"] == []
    assert re_execute(finished(), protocol, Controller(protocol, standard(protocol))).identical


def test_a_run_of_the_short_plan_stops_because_its_panel_says_so() -> None:
    state = finished().state
    assert state.closing is not None
    assert (state.closing.reason, len(state.rounds)) == ("ready", 3)
    assert len(state.answered) <= 84
    assert min(counted_alone(state).values()) >= 3
    look = finished().of(Signals)[-1]
    assert [gate.name for gate in look.gates][:3] == ["examined", "settled", "unblocked"]
    assert all(gate.ok for gate in look.gates)


def test_a_run_whose_answers_still_move_goes_on_to_its_end() -> None:
    state = finished("document", 1).state
    assert state.closing is not None
    assert state.closing.reason == "not_ready"
    gates = {gate.name: gate for gate in signals(finished("document", 1), "gates").gates}
    assert not gates["settled"].ok
    assert "same leader for 1 of 2 rounds" in (gates["settled"].value or "")
    assert not gates["reachable"].ok


def test_a_run_that_waits_for_a_run_stops_and_says_so() -> None:
    state = finished("execution").state
    report = signals(finished("execution"), "gates")
    assert not next(gate for gate in report.gates if gate.name == "unblocked").ok
    assert (report.stop, report.ready) == (True, False)
    assert state.closing is not None
    assert state.closing.reason == "hand_over"


@pytest.mark.slow
def test_a_rival_that_nobody_examined_becomes_the_focus_and_is_examined(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", plan="minimum-8")
    play(session, Examiner(4, blind=True))
    found = session.book()
    alarms = [(event.action, event.round) for event in found.of(Alarm) if event.fm == "FM-9"]
    (raised, first), (closed, last) = alarms
    assert (raised, closed) == ("raised", "closed")
    assert first < last
    foci = {event.round: event.focus for event in found.of(RoundOpened)}
    assert "Examine O-3" in foci[first + 1]
    assert "Examine" not in foci[last + 1]
    assert counted_alone(found.state)["O-3"] >= 3
    protocol = protocol_of(found.state.opening)
    assert re_execute(found, protocol, Controller(protocol, standard(protocol))).identical


def test_without_options_points_are_on_whether_the_answer_stands(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", ())
    script = Examiner(1)
    while not (asked := session.pending())[0].step.id.startswith("r1.E.belief"):
        session.submit(
            asked[0].step.id,
            script.reply(session.book(), asked[0].step, asked[0].brief.saw),
            Answer(seat="host", isolation="trusted"),
        )
    answer = Answer(seat="host", isolation="trusted")
    wrong = json.dumps({"belief": [{"option": "O-1", "points": 100}], "because": []}).encode()
    with pytest.raises(ReplyRefused, match="no option here; use stands, none"):
        session.submit(asked[0].step.id, wrong, answer)
    right = json.dumps({"belief": [{"option": "stands", "points": 100}], "because": []}).encode()
    session.submit(asked[0].step.id, right, answer)
    assert session.book().of(Belief)[0].points == {"stands": 100}


@pytest.mark.parametrize("said", ["sealed", "off"])
def test_positions_or_nothing_can_be_chosen(tmp_path: Path, said: str) -> None:
    session = begin(tmp_path / "run", positions=said)
    assert session.book().state.opening.rules["positions"] == said


@pytest.mark.parametrize("plan", ["short-5", "minimum-8", "standard-13"])
def test_shipped_plans_can_become_ready(plan: str) -> None:
    table = {"deliberation": {"question": "Which?", "options": ["a", "b"], "plan": plan}}
    assert what_a_plan_lacks(resolve(checked(table), {}, moot="0.1.0").event) == []


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"no_stress": True}, "no round is planned without the critic"),
        ({"positions": "sealed"}, "no role is asked what it would answer now (rule positions=beliefs)"),
        ({"not_before": 12}, "a stop is obeyed from R12 on, and the last round is R7"),
    ],
)
def test_a_plan_that_cannot_become_ready_says_why(more: dict[str, Any], why: str) -> None:
    table = {"deliberation": {"question": "Which?", "plan": "minimum-8", **more}}
    assert what_a_plan_lacks(resolve(checked(table), {}, moot="0.1.0").event) == [why]


def test_a_run_that_cannot_become_ready_any_more_says_so_in_its_lines() -> None:
    run = finished("document", 1)
    said = [line for event in run.of(Signals) for line in event_lines(run, event)]
    assert any("cannot become ready: no round is left" in line for line in said)
