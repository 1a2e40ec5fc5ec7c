"""answer, override, ack, note: what a person adds, all of it `by: human`.

Of `rounds/run/human_actions.py`.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from ledger.events import Alarm, Amendment, Decision
from ledger.state.book import Book
from ledger.state.decided import final_in_force, in_force, standing
from moot.api import open_run
from moot.app.opening import open_run_at
from moot.cli import people
from moot.environment import git_identity
from moot.view.outcome import outcome_of
from moot.view.outcome_text import status_clause
from moot.view.questions import open_questions_merged
from moot.view.status import list_of
from roles.protocol import Step
from rounds.run import human_actions
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.campaign.calls import Real, Watched, refused
from tests.cli.conftest import Moot, content
from tests.long_run import long_run
from tests.protocols import crux_seats, playing
from tests.protocols.crux_seats import World, contested, status_of
from tests.protocols.playing import played
from tests.recorded import RUNS, protocol_of
from tests.rounds.experimenting import BENCH


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A finished run of its own."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def test_an_answer_resolves_the_question_and_is_in_force(moot: Moot, run: Path) -> None:
    open_question = next(iter(open_run(run).state.concerns))
    said = moot("answer", run, open_question, "Yes, that is acceptable.", "--json")
    assert said.code == 0
    decision = open_run(run).book.by_id[said.json["events"][0]]
    assert isinstance(decision, Decision)
    assert (decision.by, decision.type, decision.cites[0].id) == ("human", "answer", open_question)
    assert open_question in open_run(run).state.resolved
    again = moot("answer", run, open_question, "No.")
    assert again.code == 1
    assert "answered already" in again.err


def test_an_override_overturns_a_decision_and_keeps_it(moot: Moot, run: Path) -> None:
    target = in_force(open_run(run).state)[0]
    assert moot("override", run, target, "One journal instead.").code == 0
    shown = {one["id"]: one for one in moot("decisions", run, "--json").json["decisions"]}
    assert shown[target]["standing"] == "overturned"
    assert shown[target]["overturned_by"] in shown
    before = content(run)
    again = moot("override", run, target, "Once more.")
    assert again.code == 1
    assert "was overturned by" in again.err
    assert content(run) == before


def test_a_note_is_on_the_ledger(moot: Moot, run: Path) -> None:
    assert moot("note", run, "The model was changed in R2.").code == 0
    last = open_run(run).events[-1]
    assert isinstance(last, Amendment)
    assert (last.what, last.by, last.reason) == ("note", "human", "The model was changed in R2.")


def test_an_alarm_that_is_not_open_cannot_be_closed(moot: Moot, run: Path) -> None:
    raised = [event for event in open_run(run).events if isinstance(event, Alarm)]
    assert not raised
    said = moot("ack", run, "FM-1", "Nothing was wrong.")
    assert said.code == 1
    assert "no open alarm FM-1" in said.err


def test_what_people_add_passes_the_rules_and_replays(moot: Moot, run: Path) -> None:
    question = next(iter(open_run(run).state.concerns))
    moot("answer", run, question, "Yes.")
    moot("override", run, in_force(open_run(run).state)[0], "Otherwise.")
    moot("note", run, "A remark.")
    assert moot("verify", run, "--quiet").code == 0
    assert moot("check", run).code == 0, moot("check", run).out
    assert moot("replay", run, "--re-execute").code == 0


def failing_head() -> Any:
    """The head cannot be opened for writing: the commit is whole on the disk, and nobody is told so."""

    def see(said: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if said == "open" and str(arguments[0]).endswith("/head") and arguments[1] & os.O_WRONLY:
            raise refused(errno.EIO, said)
        return real(*arguments, **named)

    return see


@pytest.mark.parametrize("act", ["note", "answer", "override", "outcome"])
def test_an_act_done_again_after_a_failed_write_is_on_the_ledger_once(
    moot: Moot, run: Path, act: str
) -> None:
    """F-16: exit code 3 says do it again, the write had succeeded and was kept, and doing it again made two."""
    question, target = next(iter(open_run(run).state.concerns)), in_force(open_run(run).state)[0]
    call = {
        "note": ("note", run, "Looked at it."),
        "answer": ("answer", run, question, "Yes."),
        "override": ("override", run, target, "One journal instead."),
        "outcome": ("outcome", run, "accepted"),
    }[act]
    before = len(open_run(run).events)
    with Watched(failing_head()):
        assert moot(*call).code == 3
    again = moot(*call, "--json")
    assert again.code == 0, again.err
    assert len(open_run(run).events) == before + 1
    assert moot(*call, "--json").json["events"] == again.json["events"]
    assert len(open_run(run).events) == before + 1
    assert moot("verify", run).code == 0
    assert moot("check", run, "--quiet").code == 0


def test_the_same_words_of_another_kind_are_another_act(moot: Moot, run: Path) -> None:
    before = len(open_run(run).events)
    assert moot("note", run, "One.").code == 0
    assert moot("note", run, "Two.").code == 0
    assert len(open_run(run).events) == before + 2


def test_decisions_say_what_puts_them_at_risk(moot: Moot) -> None:
    """R-16: a final decision that builds on one at risk says so, and through what."""
    state = open_run(long_run()).state
    safe, at_risk = final_in_force(state)
    cited = [cite.id for cite in state.decisions[at_risk].cites]
    through, claim = next(
        (decision, cite.id)
        for decision in cited
        for cite in state.decisions[decision].cites
        if cite.id in state.claims and state.claims[cite.id].status == "superseded"
    )
    said = moot("decisions", long_run())
    assert f"{at_risk}  final, AT RISK   (round_lead)" in said.out
    assert f"    at risk: {claim} ⇢ superseded, through {through}, before this was decided" in said.out
    assert f"    builds-on {through} AT RISK" in said.out
    found = {one["id"]: one for one in json.loads(moot("decisions", long_run(), "--json").out)["decisions"]}
    assert found[at_risk]["standing"] == "at_risk"
    assert {"id": claim, "status": "superseded", "through": [through], "before": True} in found[at_risk][
        "fallen"
    ]
    assert found[safe]["fallen"] == []


@pytest.fixture
def second(tmp_path: Path) -> Path:
    """An open run."""
    return open_run_at(tmp_path / "second", resolve(checked(TABLE, name="test"), {}, moot="0.0.0"), {}).path


TABLE = {"deliberation": {"question": "Which storage?", "protocol": "tribunal"}}


def last(run: Path) -> Amendment:
    """The last event, a remark."""
    event = open_run(run).events[-1]
    assert isinstance(event, Amendment)
    return event


def test_an_act_says_who_acted(moot: Moot, second: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert moot("note", second, "Seen.", "--by", "Ada Lovelace").code == 0
    assert last(second).name == "Ada Lovelace"
    monkeypatch.setattr(people, "git_identity", lambda: "Grace Hopper")
    assert moot("note", second, "Seen again.").code == 0
    assert last(second).name == "Grace Hopper"
    before = content(second)
    assert moot("note", second, "Seen again.").code == 0  # the same act of the same person, said twice
    assert content(second) == before
    refused = moot("note", second, "And again.", "--by", "\x1b[31m")
    assert (refused.code, content(second)) == (2, before)
    assert "a person's name is 1 to 200 printable characters" in refused.err


def test_git_says_who_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Ada Lovelace\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    assert git_identity() == (None if shutil.which("git") is None else "Ada Lovelace")
    # A repository that somebody else sent cannot say who the person is.
    (tmp_path / ".git/objects").mkdir(parents=True)
    (tmp_path / ".git/refs").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git/config").write_text("[user]\n\tname = Mallory\n")
    assert git_identity() == (None if shutil.which("git") is None else "Ada Lovelace")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_identity() is None


def test_a_redaction_says_who_removed(moot: Moot, second: Path, tmp_path: Path) -> None:
    assert moot("note", second, "The password is Hunter2-and-more.").code == 0
    (tmp_path / "words").write_text("Hunter2-and-more\n")
    asked = ("--secret", tmp_path / "words", "--reason", "a password", "--by", "Ada Lovelace")
    done = moot("redact", second, *asked, "--out", tmp_path / "copy")
    assert done.code == 0, done.err
    assert last(tmp_path / "copy").name == "Ada Lovelace"


def test_the_line_that_answers_a_question_works_when_copied(moot: Moot, tmp_path: Path) -> None:
    """The block names the exact command, also for a directory with a space in its name."""
    place = tmp_path / "a run"
    shutil.copytree(played("single-pass", dispositions="three"), place)
    (asking,) = open_run(place).outcome.needs_you
    line = " ".join(moot("status", place).out.split())
    assert asking.command in line
    program, *arguments = shlex.split(asking.command)
    assert program == "moot"
    assert moot(*arguments).code == 0
    after = open_run(place).outcome
    assert (after.needs_you, after.status) == ([], "decided")


@pytest.mark.parametrize(
    ("protocol", "verdict"), [("adversarial", "r1.verdict.judge"), ("debate", "r1.judging.judge")]
)
def test_an_answer_in_place_of_a_lost_verdict_is_final_everywhere(
    moot: Moot, tmp_path: Path, protocol: str, verdict: str
) -> None:
    run = tmp_path / "run"
    session = playing.begin(run, protocol)
    playing.play(session, lose=frozenset({verdict}))
    (question,) = open_questions_merged(session.book())
    human_actions.answer(session, question[0], "Keep the journal.", "Ada Example")
    assert outcome_of("run", session.book()).status_why == "by a person"
    (listed,) = list_of(tmp_path, [run], 0).runs
    assert (listed.by_person, listed.person, listed.finals) == (True, "Ada Example", 1)
    assert listed.decision == final_in_force(session.book().state)[0]
    moot("report", run, "--adr", tmp_path / "adr.md")
    assert "Ada Example" in (tmp_path / "adr.md").read_text()
    assert moot("outcome", run, "accepted", "--by", "Ada Example").code == 0
    human_actions.override(session, listed.decision or "", "Keep the database.", "Bo Example")
    assert outcome_of("run", session.book()).answer == "Keep the database."


def test_what_a_person_said_is_no_decision_of_a_run_in_progress(moot: Moot, tmp_path: Path) -> None:
    session = crux_seats.begin(tmp_path / "run")
    world = contested("person", "document")
    while "C-1-1" not in session.book().state.claims:
        crux_seats.submit(session, session.pending()[0], world)
    human_actions.answer(session, "C-1-1", "We timed it.", result="holds")
    moot("report", tmp_path / "run", "--adr", tmp_path / "adr.md")
    assert "D-1-1" not in (tmp_path / "adr.md").read_text().partition("\n# ")[0]
    assert "Nothing was decided." in moot("report", tmp_path / "run").out


def test_questions_about_different_claims_are_never_one(tmp_path: Path) -> None:
    session = crux_seats.begin(tmp_path / "run")
    crux_seats.play(session, contested("person", "person"))
    groups = open_questions_merged(session.book())
    assert [len(group) for group in groups] == [1, 1]


@pytest.mark.parametrize("result", ["fails", "holds"])
def test_an_answer_that_rests_on_a_refutation_is_not_at_risk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, result: str
) -> None:
    """The verdict of a program has no id of its own, so the memo's decision cites the claim that it refuted."""
    plain = crux_seats.reply

    def cites_the_claim(book: Book, step: Step, world: World) -> dict[str, Any]:
        made = plain(book, step, world)
        if step.task == "S.memo":
            made["sentences"][1]["refs"] = ["C-1-1"]
        return made

    monkeypatch.setattr(crux_seats, "reply", cites_the_claim)
    session = crux_seats.begin(tmp_path / "run", {"wait": "off"}, experiments="on")
    world = contested("execution", programs=dict.fromkeys(crux_seats.ROLES, (result,)))
    state = crux_seats.play(session, world, bench=BENCH).state
    (final,) = final_in_force(state)
    assert any(cite.id == "C-1-1" for cite in state.decisions[final].cites)
    assert standing(state, final) == "in_force"


def test_a_settled_test_is_asked_of_nobody(tmp_path: Path) -> None:
    """The person answered the claim itself, and not the question about it."""
    session = crux_seats.begin(tmp_path / "run")
    world = contested("person", "person")
    crux_seats.play(session, world)
    about = {
        facts.between[0]: name for name, facts in session.book().state.concerns.items() if facts.for_human
    }
    human_actions.answer(session, "C-1-1", "We timed it.", result="holds")
    assert [about["C-1-1"]] not in open_questions_merged(session.book())


def test_after_an_override_nobody_asks_or_dissents_by_the_old_rule(tmp_path: Path) -> None:
    session = crux_seats.begin(tmp_path / "run", {"wait": "off"})
    world = contested(
        "person", first={"action": 60, "guardian": 60, "observer": 60, "critic": 40}, numbers=None
    )
    crux_seats.play(session, world)
    assert "critic" in [dissenter.role for dissenter in outcome_of("run", session.book()).dissent]
    human_actions.override(
        session, final_in_force(session.book().state)[0], "Use one journal.", "Ada Example"
    )
    outcome = outcome_of("run", session.book())
    assert (outcome.dissent, outcome.needs_you, outcome.do_now) == ([], [], [])


def test_nobody_is_asked_for_a_test_that_can_change_nothing_any_more(tmp_path: Path) -> None:
    """The first result took the leader so far ahead that the other test is worth nothing."""
    session = crux_seats.begin(tmp_path / "run")
    crux_seats.play(session, contested("person", "person"))
    asked = open_questions_merged(session.book())
    assert len(asked) == 2
    human_actions.answer(session, asked[0][0], "We timed it.", result="holds")
    crux_seats.play(session, contested("person", "person"))
    assert status_of(session.book()) == "decided"
    assert open_questions_merged(session.book()) == []


@pytest.mark.parametrize("end", ["override", "memo", "lost", "waits"])
def test_signals_of_crux_say_the_status_that_the_outcome_has(moot: Moot, tmp_path: Path, end: str) -> None:
    """They said that forecasts decide, a test comes first or no role answered, whatever had happened since."""
    run, world = tmp_path / "run", contested("person")
    session = crux_seats.begin(
        run, {"wait": "off"} if end == "memo" else None, options=2 - 2 * (end == "lost")
    )
    numbers = frozenset(f"r1.E.{role}" for role in crux_seats.ROLES)
    crux_seats.play(
        session,
        World(answers="O-2") if end == "memo" else world,
        lose=numbers if end == "lost" else frozenset(),
    )
    if end == "override":
        human_actions.override(session, "D-1-1", "Use one journal.", "Ada Example")
    outcome = outcome_of(str(run), session.book())
    shown = moot("signals", run)
    says = "" if end == "waits" else "STOP: "
    assert " ".join(shown.out.split()).startswith(f"{says}{status_clause(outcome)}")
    assert moot("signals", run, "--json").json["status"] == outcome.status
    assert shown.code == 0


@pytest.mark.parametrize("run", [run for run in RUNS if protocol_of(run) == "crux"], ids=lambda run: run.name)
def test_signals_of_crux_fit_twenty_lines(moot: Moot, monkeypatch: pytest.MonkeyPatch, run: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert moot("signals", run).out.count("\n") <= 20
