"""`structured` with experiments: who may bring a program, what is refused, when it is run, and who is told of it."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any, Final

import pytest

from ledger.events import Artifact, Claim, Decision, ExperimentJudged, ExperimentPlanned, ExperimentRun
from ledger.state.book import Book
from moot.view.claims import claims_of
from roles.brief import derive
from roles.prompt_set import installed_prompt_set, read_prompt_set
from roles.protocol import Step, awaited_experiments, find_step
from roles.replies import CriticArtifact
from roles.seats.port import Answer
from rounds.protocols import PROTOCOLS
from rounds.protocols.programs import EXAMPLE
from rounds.run.controller import Controller
from rounds.run.driver import Drive
from rounds.run.experiments import conduct
from rounds.run.human_actions import amend_experiments
from rounds.run.reexecution import re_execute
from rounds.run.session import ReplyRefused, RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import Programs, resolve
from tests.rounds.experimenting import BENCH
from tests.rounds.openings import clock
from tests.rounds.scripted import Script, ScriptedSeat
from tests.validators.factory import findings

STRUCTURED: Final = PROTOCOLS["structured"]
SHORT: Final = [{"n": 1}, {"n": 2, "phases": ["A", "B", "C", "D", "E", "F", "G", "S"]}]


def begin(path: Path, experiments: str | None = "CPython 3.11", **rules: str) -> RunSession:
    table: dict[str, Any] = {
        "deliberation": {
            "question": "Which storage keeps every line?",
            "goals": ["No line is lost"],
            "options": ["three streams", "one journal"],
            "protocol": "structured",
        },
        "round": SHORT,
        "rules": rules,
    }
    programs = Programs("on", experiments) if experiments else None
    opening = resolve(checked(table), {}, moot="0", experiments=programs)
    return start(path, opening.event, blobs=opening.blobs, files={}, verdicts=standard, clock=clock())


class Planner(Script):
    """The script; the critic brings a program for its first claim, the verifier one for the first claim it looks at."""

    def __init__(self, program: dict[str, Any] | None = None, how: str = "execution") -> None:
        super().__init__(3)
        self.program, self.how = program or EXAMPLE, how

    def reply(self, book: Book, step: Step, saw: tuple[int, ...]) -> bytes:
        made = json.loads(super().reply(book, step, saw))
        if book.state.opening.rules.get("experiments") != "on":
            return json.dumps(made).encode()
        for draft in made.get("proposed_claims", ()):
            draft["how"] = self.how
        if step.task.startswith(("D.", "E.check")):
            made["programs"] = []
        if step.task == "D.critic":
            made["programs"] = [{"claim": "1", **self.program}]
        if step.id == "r1.E.check1.verifier":
            shown = [event.id for event in map(book.events.__getitem__, saw) if isinstance(event, Claim)]
            made["programs"] = [{"claim": shown[0], **self.program}]
        return json.dumps(made).encode()


def handed(session: RunSession, script: Script, step: Step) -> None:
    asked = next(one for one in session.pending() if one.step.id == step.id)
    content = script.reply(session.book(), asked.step, asked.brief.saw)
    session.submit(step.id, content, Answer(seat="host", isolation="trusted"))


def played(session: RunSession, script: Script, *, run: bool = True, until: str = "") -> Book:
    """Answer whatever is open, and run what is waited for; stop where a step is asked."""
    for _ in range(200):
        asked = [one.step for one in session.pending()]
        if any(step.id == until for step in asked):
            break
        waiting = awaited_experiments(STRUCTURED, session.book().state)
        if asked:
            handed(session, script, asked[0])
        elif waiting and run:
            list(conduct(session, BENCH, waiting[0]))
        else:
            break
    return session.book()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> RunSession:
    session = begin(tmp_path_factory.mktemp("programs") / "run")
    played(session, Planner())
    return session


def test_what_artifacts_bring_is_run_before_the_checks_and_what_verdicts_bring_before_the_reviews(
    tmp_path: Path,
) -> None:
    session, script = begin(tmp_path / "run"), Planner()
    book = played(session, script, run=False)
    by_critic = list(book.of(ExperimentPlanned))
    assert [plan.by for plan in by_critic] == ["critic"]
    assert by_critic[0].claims == (next(one.id for one in book.of(Claim) if one.raised_by == "critic"),)
    sealed = {step for step in book.state.answered if step.startswith("r1.E.")}
    assert sealed == {step for step in sealed if ".belief." in step} != set()  # and no check was asked
    assert awaited_experiments(STRUCTURED, book.state) == (by_critic[0].id,)
    list(conduct(session, BENCH, str(by_critic[0].id)))
    book = played(session, script, run=False)
    assert [plan.by for plan in book.of(ExperimentPlanned)] == ["critic", "verifier"]
    assert not any(step.startswith("r1.F.") for step in book.state.answered)
    assert awaited_experiments(STRUCTURED, book.state) == ("E-1-2",)
    list(conduct(session, BENCH, "E-1-2"))
    assert any(one.step.id.startswith("r1.F.") for one in session.pending())


def test_a_run_with_programs_ends_lawfully_and_is_executed_again_to_the_same_head(whole: RunSession) -> None:
    book = whole.book()
    assert book.state.finished
    judged = book.of(ExperimentJudged)
    assert len(judged) == 3
    assert {(one.verdict, one.class_) for one in judged} == {("holds", "reproduced")}
    moved = {one.claim_id for event in judged for one in event.changes}
    found = {one.id: one for one in claims_of("run", book).claims}
    assert {found[claim].tested for claim in moved} == {f"ran ×{judged[0].counts.holds}"}
    errors = [one for one in findings(book, standard(STRUCTURED).context()) if one.severity == "error"]
    assert errors == []
    assert re_execute(book, STRUCTURED, Controller(STRUCTURED, standard(STRUCTURED))).identical


def test_who_may_bring_a_program_is_told_how_and_who_judges_what_came_out(whole: RunSession) -> None:
    book = whole.book()
    for step, wanted in {
        "r1.D.action": ("# For this step", "before the checks are made", "POSIX shell"),
        "r1.E.check1.verifier": ("E-1-1 · run 3 times in a sandbox: holds", "behind your verdict"),
        "r1.F.action": ("E-1-1 · a program for", "E-1-2 · run 3 times in a sandbox: holds"),
        "r2.S.close": ("E-1-1 · run 3 times", "E-2-1 · run 3 times"),
    }.items():
        groups = (group for round_ in (1, 2) for group in STRUCTURED.groups(book.state, round_))
        asked = next(one for group in groups for one in group.steps if one.id.startswith(step))
        text = derive(book, STRUCTURED, asked, read_prompt_set(installed_prompt_set("structured"))).text
        assert [one for one in wanted if one not in text] == [], step


def test_without_the_persons_word_nobody_is_asked_for_a_program(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", None)
    book = played(session, Planner(), until="r1.F.action")
    assert not book.of(ExperimentPlanned)
    step = find_step(STRUCTURED, book.state, "r1.D.critic")
    assert step is not None
    assert STRUCTURED.reply_type(book.state, step) is CriticArtifact
    assert "programs can be run" not in session.pending()[0].brief.text


def test_where_programs_are_forbidden_later_nobody_waits_for_one(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    played(session, Planner(), run=False)
    amend_experiments(session, is_allowed=False)
    assert awaited_experiments(STRUCTURED, session.book().state) == ()
    assert [one.step.task for one in session.pending()][:1] == ["E.check1"]
    book = played(session, Planner(), run=False)
    assert book.state.finished
    assert not book.of(ExperimentRun)


@pytest.mark.slow
def test_programs_that_are_allowed_again_hold_up_no_check_that_was_open(tmp_path: Path) -> None:
    session, script = begin(tmp_path / "run"), Planner()
    played(session, script, run=False)
    amend_experiments(session, is_allowed=False)
    amend_experiments(session, is_allowed=True)
    assert [one.step.task for one in session.pending()][:1] == ["E.check1"]
    book = played(session, script)
    assert book.state.finished
    assert {one.verdict for one in book.of(ExperimentJudged)} == {
        "holds"
    }  # run when nobody was asked for anything
    assert [one for one in findings(book, standard(STRUCTURED).context()) if one.severity == "error"] == []
    assert re_execute(book, STRUCTURED, Controller(STRUCTURED, standard(STRUCTURED))).identical


def test_a_run_stopped_while_it_waits_for_a_program_goes_on_with_it(tmp_path: Path) -> None:
    session, script = begin(tmp_path / "run"), Planner()
    played(session, script, run=False)
    session.stop("human")
    assert session.book().state.stopped_by is not None
    seats = {role.id: ScriptedSeat(session, script) for role in STRUCTURED.roles}
    end = asyncio.run(Drive(session, seats, monotonic=time.monotonic, bench=BENCH).run())
    assert (end.state, end.reason) == ("finished", "not_ready")
    assert session.book().of(ExperimentJudged)


def test_a_decision_may_cite_what_was_run(tmp_path: Path) -> None:
    session, script = begin(tmp_path / "run"), Planner()
    played(session, script, until="r1.G.action")
    asked = session.pending()[0]
    made = json.loads(script.reply(session.book(), asked.step, asked.brief.saw))
    made["decisions"][0]["cites"] = [{"id": "E-1-1", "relation": "supported-by"}]
    session.submit("r1.G.action", json.dumps(made).encode(), Answer(seat="host", isolation="trusted"))
    cites = session.book().of(Decision)[-1].cites
    assert [(one.type, one.id) for one in cites] == [("experiment", "E-1-1")]
    errors = findings(session.book(), standard(STRUCTURED).context())
    assert [one.code for one in errors if one.severity == "error"] == []


def _program(**more: Any) -> dict[str, Any]:
    return {"claim": "1", **EXAMPLE, **more}


@pytest.mark.parametrize(
    ("brought", "how", "said"),
    [
        ([_program(claim="2")], "execution", "give an id, or the number of your own: 1"),
        ([_program(claim="0")], "execution", "'0' is no open claim"),
        ([_program(claim="C-9-9")], "execution", "'C-9-9' is no open claim"),
        ([_program(claim="²")], "execution", "'²' is no open claim"),
        ([_program()], "judgement", "1 is decided by judgement, not by execution or calculation"),
        ([_program(), _program()], "execution", "'1' is given twice"),
        ([_program(fail_if=EXAMPLE["pass_if"])], "execution", "programs[0]: "),
        ([_program(argv=["/usr/bin/python3", "x"])], "execution", "programs[0]: "),
    ],
)
def test_a_program_that_could_decide_nothing_is_refused_with_the_reason(
    tmp_path: Path, brought: list[dict[str, Any]], how: str, said: str
) -> None:
    session, script = begin(tmp_path / "run"), Planner(how=how)
    played(session, script, until="r1.D.critic")
    asked = next(one for one in session.pending() if one.step.id == "r1.D.critic")
    made = json.loads(script.reply(session.book(), asked.step, asked.brief.saw))
    made["proposed_claims"] = made["proposed_claims"][:1]
    made["programs"] = brought
    with pytest.raises(ReplyRefused) as refused:
        session.submit("r1.D.critic", json.dumps(made).encode(), Answer(seat="host", isolation="trusted"))
    assert said in "\n".join(refused.value.errors)
    assert not session.book().of(Artifact) or session.book().of(Artifact)[-1].role != "critic"
