"""What the outcome of a run of `structured`, or of one that stopped, says: every final, costs, causes, answers.

Seats are scripted, or the fake of an API that refuses; nothing here was said by a model.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ledger.events import Claim, Concern, Decision, Statement, Verification
from ledger.events.envelope import SeatKind
from ledger.events.run import Budgets
from ledger.state.book import Book
from ledger.store.store import RunStore
from moot.view.outcome import outcome_of
from moot.view.outcome_status import caveats
from moot.view.outcome_text import outcome_lines, status_clause
from moot.view.seats import money, unrecorded_spend
from moot.view.status import status_text
from roles.protocol import Step
from roles.seats.port import Answer, Request, SeatFailed, SeatReply
from rounds.protocols.crux import standing
from rounds.run import human_actions
from rounds.run.driver import Drive
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.cli.conftest import Moot, moot
from tests.fake_api.faults import Fault
from tests.rounds.openings import ROLES, begin, clock, play, rows
from tests.rounds.scripted import Script
from tests.seats.driven import deliberate, opened
from tests.view.test_without import until

__all__ = ["moot"]


class FourFinals(Script):
    """A lead who closes with four decisions, the second of which asks for something from outside."""

    def _make(self, book: Book, step: Step, rng: Any, known: list[Any]) -> dict[str, Any]:
        made = super()._make(book, step, rng, known)
        if step.task == "S.close":
            (first,) = made["decisions"]
            made["decisions"] = [{**first, "text": f"Decision number {n}."} for n in range(1, 5)]
        return made

    def _in_fields(self, step: Step, made: dict[str, Any], rng: Any, known: list[Any]) -> dict[str, Any]:
        made = super()._in_fields(step, made, rng, known)
        if step.task == "S.close":
            made["decisions"][1]["requirements"] = [
                {"text": "The parish agrees.", "by": "person"},
                {"text": "The restorer agrees.", "by": "person"},
            ]
        return made


class AsksAPerson(Script):
    """A lead whose questions are for a person."""

    def _in_fields(self, step: Step, made: dict[str, Any], rng: Any, known: list[Any]) -> dict[str, Any]:
        made = super()._in_fields(step, made, rng, known)
        if step.task == "G":
            made["concerns"] = [one | {"for_human": True} for one in made["concerns"]]
        return made


def test_every_final_decision_is_told_whatever_else_is_to_be_done(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(2))
    play(session, FourFinals(seed=3))
    found = outcome_of("run", session.book())
    finals = [event.id or "" for event in session.book().of(Decision) if event.type == "final"]
    assert len(finals) == 4
    told = [ref for point in found.do_now for ref in point.refs]
    assert [one for one in told if one in finals] == finals[1:]
    assert any(point.text.startswith("Run what decides C-") for point in found.do_now)
    block = " ".join(" ".join(outcome_lines(found, "run", 100)).split())
    left = [one for one in finals[1:] if one not in block]
    assert not left or " more: moot status run --json)" in block


def test_what_any_final_decision_requires_is_counted_beside_the_status(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(2))
    play(session, FourFinals(seed=3))
    found = outcome_of("run", session.book())
    assert [point.text for point in found.requirements] == ["The parish agrees.", "The restorer agrees."]
    assert "nothing waits" not in " ".join(outcome_lines(found, "run", 100))


class GraveTensions(Script):
    """A guardian whose tensions are graver than those of the others."""

    def _make(self, book: Book, step: Step, rng: Any, known: list[Any]) -> dict[str, Any]:
        made = super()._make(book, step, rng, known)
        for tension in made.get("tensions", ()):
            tension["severity"] = 5 if step.role == "guardian" else 3
        return made


def test_open_concerns_and_objections_that_the_lead_alone_calls_met_are_pointed_to(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(3))
    play(session, GraveTensions(seed=3))
    book = session.book()
    points = {ref: point.text for point in outcome_of("run", book).not_settled for ref in point.refs}
    tensions = [event for event in book.of(Concern) if event.type == "tension"]
    gravest, *alike = [event for event in tensions if event.severity == 5]
    assert points[gravest.ref] == (
        f"{len(tensions)} open concerns (moot log run --kind concern), the gravest by its author, guardian,"
        f" {len(alike)} as grave: {gravest.text} (severity 5 of 5 by its author)"
    )
    (closing,) = [event for event in book.of(Statement) if event.step and ".S.close." in event.step]
    (objection,) = closing.responds_to
    assert points[objection] == f"The objection of action is met, as {closing.by} alone says."


def test_an_open_concern_that_is_the_objection_is_not_counted_twice(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(3))
    play(session, GraveTensions(seed=5))
    book = session.book()
    (early,) = [book.first(event.seq) for event in book.of(Decision) if event.id == "D-3-1"]
    found = outcome_of("run", early)
    tensions = {event.ref for event in early.of(Concern) if event.type == "tension"}
    assert found.objection is not None
    assert found.objection.ref in tensions
    listed = f"{len(tensions) - 1} more open concerns ("
    assert any(point.text.startswith(listed) for point in found.not_settled)


def test_a_phase_without_steps_is_not_said_to_be_never_asked_for(tmp_path: Path) -> None:
    """Opening a round asks for nothing, and every run that had lost a reply said "never asked for: A"."""
    session = begin(tmp_path / "run", rows(1))
    while pending := session.pending():
        (asked, *_), lost = pending, "r1.D.critic"
        if asked.step.id == lost:
            session.give_up(lost, "given_up", "lost in a test")
        else:
            reply = Script(seed=3).reply(session.book(), asked.step, asked.brief.saw)
            session.submit(asked.step.id, reply, Answer(seat="host", isolation="trusted"))
    assert caveats(session.book())[-1] == "replies lost: 1 of 4 in artifacts (critic)"


@pytest.mark.parametrize("when", ["G", "E"])
def test_an_answer_in_a_running_run_is_not_its_answer(when: str, moot: Moot, tmp_path: Path) -> None:
    """A-1: status, decisions, list, report and JSON showed the person's words as the decision."""
    path = tmp_path / "run"
    session = begin(path, rows(3))
    for seed in range(20):
        if any(one.for_human for one in session.book().state.concerns.values()):
            break
        until(session, AsksAPerson(seed=seed), when, None)
        play_one_round(session, AsksAPerson(seed=seed))
    asked = next((i for i, one in session.book().state.concerns.items() if one.for_human), None)
    assert asked is not None, "the script asks a person"
    before = outcome_of("run", session.book())
    human_actions.answer(session, asked, "Take the words of a person.", "Ada")
    assert outcome_of("run", session.book()).answer == before.answer
    for verb in ("status", "decisions", "list", "report"):
        said = moot(verb, path) if verb != "list" else moot("list", "--json")
        assert "Not final: Take the words" not in " ".join(said.out.split())


def play_one_round(session: Any, script: Script) -> None:
    """Answer every open step until another round opens."""
    number = session.book().state.round
    while session.book().state.round == number and (asked := session.pending()):
        from roles.seats.port import Answer

        step, brief = asked[0].step, asked[0].brief
        session.submit(
            step.id,
            script.reply(session.book(), step, brief.saw),
            Answer(seat="command", isolation="trusted", provider="scripted", simulated="fake"),
        )


def test_lost_replies_cost_what_they_cost_on_every_screen(moot: Moot, tmp_path: Path) -> None:
    """A-4: a seat that refuses every time is billed, and no event shows it."""
    path = tmp_path / "run"
    deliberate(opened(path), fault=lambda _: Fault("refusal"))
    unrecorded = unrecorded_spend(path)
    assert unrecorded.calls > 0
    assert unrecorded.micro_usd > 0
    told = f"{money(unrecorded.micro_usd)} more for {unrecorded.calls} attempts without an accepted reply"
    assert told in " ".join(moot("status", path).out.split())
    for verb in ("outcome", "status", "decisions"):
        assert told in str(moot(verb, path, "--json").json)
    assert told in " ".join(moot("report", path).out.replace("\\", "").split())


def test_a_budget_that_leaves_no_room_is_told_with_its_numbers(moot: Moot, tmp_path: Path) -> None:
    """A-17: "the budget in dollars was used up" at $0.00 spent."""
    path = tmp_path / "run"
    end, _ = deliberate(opened(path, budgets=Budgets(usd="0.01")))
    assert (end.state, end.reason) == ("stopped", "budget_usd")
    said = " ".join(moot("status", path).out.split())
    assert "used up" not in said
    assert "STOPPED: the next reply could cost more than the budget leaves; $0.00 of $0.01 spent" in said
    assert "the next attempt, r1." in said
    assert f"go on moot run --resume {path} --max-usd MORE" in said


class Keyless:
    """A seat that fails for good before it answers anything."""

    kind: SeatKind = "command"

    async def reply(self, request: Request) -> SeatReply:
        del request
        raise SeatFailed("unavailable", "no key: export ANTHROPIC_API_KEY", fatal=True)


def test_the_cause_of_a_failed_start_is_kept_and_told(moot: Moot, tmp_path: Path) -> None:
    """A-20: neither the cause nor the line that resumes was in `status`."""
    path = tmp_path / "run"
    seat = Keyless()
    end = asyncio.run(Drive(begin(path, rows(1)), dict.fromkeys(ROLES, seat), monotonic=lambda: 0.0).run())
    assert end.state == "failed"
    said = " ".join(moot("status", path).out.split())
    assert "STOPPED: a seat failed for good; no key: export ANTHROPIC_API_KEY answer" in said
    assert f"go on moot run --resume {path}" in said
    assert moot("outcome", path, "--json").json["outcome"]["go_on"] == f"moot run --resume {path}"
    assert moot("check", path).code == 0
    assert moot("replay", path, "--re-execute", "--quiet").code == 0
    play(RunSession(RunStore(path), standard, clock()))  # the note wakes nobody, and the run goes on
    assert "no key" not in moot("status", path).out


def test_forecasts_of_a_round_count_once_their_step_is_complete(tmp_path: Path) -> None:
    """A-19: "the step is still open" until the round was validated."""
    session = begin(tmp_path / "run", rows(1), profile="gates", positions="beliefs")
    answer = Answer(seat="command", isolation="trusted", simulated="fake")
    script, texts = Script(), list[str]()
    while (asked := session.pending()[0]).step.name.phase in "BCDEF":
        session.submit(asked.step.id, script.reply(session.book(), asked.step, asked.brief.saw), answer)
        texts.append(outcome_of("run", session.book()).how_sure)
    assert [*dict.fromkeys(texts)] == [
        "No forecast has been given.",
        *(
            f"{roles} gave a sealed forecast; forecasts stay sealed until all numbers are in."
            for roles in ("1 role", "2 roles", "3 roles")
        ),
        "Round 1: mean of 4 forecasts.",
    ]


def test_while_forecasts_are_sealed_only_their_number_is_told(tmp_path: Path) -> None:
    """A-19: "There is no decision to be sure of", although forecasts exist."""
    from tests.protocols.changing import changed_run

    one = changed_run(tmp_path / "one", "crux", until=lambda book: len(book.state.beliefs) == 1)
    assert (
        outcome_of("run", one.book()).how_sure
        == "1 role gave a sealed forecast; forecasts stay sealed until all numbers are in."
    )
    later = changed_run(
        tmp_path / "later", "crux", until=lambda book: standing.numbers_end(book.state) is not None
    )
    found = outcome_of("run", later.book())
    assert found.answer.startswith("Nothing is decided yet. The group forecast puts O-")
    assert "% for O-1 (" in found.how_sure
    assert "group forecast of 4 roles" in found.how_sure
    nobody = begin(tmp_path / "nobody", rows(1))
    assert outcome_of("run", nobody.book()).how_sure == "No forecast has been given."


def test_a_likelihood_is_one_number_and_the_range_over_roles(tmp_path: Path) -> None:
    """A-18: "Likely (55–80 %)" reads as an interval around the number."""
    from tests.protocols.changing import changed_run

    found = outcome_of("run", changed_run(tmp_path / "run", "crux").book())
    assert found.how_sure.split("%")[0].isdigit()
    assert "ikely (" not in found.how_sure


def test_costs_of_lost_replies_are_in_the_status_row(tmp_path: Path) -> None:
    path = tmp_path / "run"
    deliberate(opened(path), fault=lambda _: Fault("refusal"))
    state = RunStore(path).book().state
    said = " ".join(status_text(str(path), state, None, unrecorded_spend(path)).split())
    assert "without an accepted reply" in said
    assert status_clause(outcome_of("run", RunStore(path).book()))


def test_what_only_the_closing_settled_was_not_checked(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(2))
    play(session)
    book, found = session.book(), outcome_of("run", session.book())
    checked = {
        change.claim_id
        for check in book.of(Verification)
        if check.phase != "S"
        for change in check.claim_status_changes
    }
    closed = {
        change.claim_id
        for check in book.of(Verification)
        if check.phase == "S"
        for change in check.claim_status_changes
    }
    claims = len(book.of(Claim))
    assert closed - checked
    assert f"claims checked: {len(checked)} of {claims} by reading" in found.looked_at
    statuses = Counter(facts.status for facts in book.state.claims.values())
    assert not statuses["pending"]
    waiting = statuses["tested_unclear"] + statuses["partially_refuted"]
    told = [point.text for point in found.not_settled]
    assert f"Still open: {waiting} of {claims} claims (moot claims run)" in told
