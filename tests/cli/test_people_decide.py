"""A person's answer beside the run's own: in the place of a lost verdict, to questions about different claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledger.state.book import Book
from ledger.state.decided import final_in_force, standing
from moot.view.outcome import outcome_of
from moot.view.outcome_text import status_clause
from moot.view.questions import open_questions_merged
from moot.view.status import list_of
from roles.protocol import Step
from rounds.run import human_actions
from tests.cli.conftest import Moot
from tests.protocols import crux_seats, playing
from tests.protocols.crux_seats import World, contested
from tests.recorded import RUNS, protocol_of
from tests.rounds.experimenting import BENCH


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
    assert open_questions_merged(session.book()) == [[about["C-1-2"]]]


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
    assert (outcome.dissent, outcome.needs_you) == ([], [])


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
    assert " ".join(shown.out.split()).startswith(status_clause(outcome))
    assert moot("signals", run, "--json").json["status"] == outcome.status
    assert shown.code == 0


@pytest.mark.parametrize("run", [run for run in RUNS if protocol_of(run) == "crux"], ids=lambda run: run.name)
def test_signals_of_crux_fit_twenty_lines(moot: Moot, monkeypatch: pytest.MonkeyPatch, run: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert moot("signals", run).out.count("\n") <= 20
