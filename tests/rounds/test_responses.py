"""Alarms in a run of the profile `gates`: raised once, answered in a fixed wording, and replayed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ledger.events import Alarm, Amendment, RoundOpened, RunClosed, Validation
from ledger.events.run import Change
from ledger.state.book import Book
from ledger.state.fold import step
from ledger.store.store import RunStore
from roles.prompt_set import read_prompt_set
from roles.protocol import Step
from rounds.protocols.schedule import CLAIM_CAP, claim_cap
from rounds.run.forking import Wish, fork
from rounds.run.human_actions import acknowledge
from rounds.run.reexecution import re_execute
from rounds.run.responses import responses, round_to_stress
from rounds.run.session import RunSession
from tests.rounds.openings import begin, clock, play, rows
from tests.rounds.scripted import Script


def _run(path: Path, seed: int = 3) -> RunSession:
    session = begin(path, "standard-13", profile="gates")
    play(session, Script(seed=seed))
    return session


@pytest.mark.slow
def test_a_run_by_gates_ends_with_a_reason_of_its_own_and_replays(tmp_path: Path) -> None:
    session = _run(tmp_path / "run")
    book = session.book()
    assert book.of(RunClosed)[-1].reason in ("ready", "not_ready")
    assert all(event.ok for event in book.of(Validation))
    assert re_execute(book, session.protocol, session.controller).identical


def test_an_alarm_is_raised_once_and_answered_in_a_fixed_wording(tmp_path: Path) -> None:
    book = _run(tmp_path / "run").book()
    raised = [alarm for alarm in book.of(Alarm) if alarm.action == "raised"]
    assert raised, "the script gives up positions and leaves claims unanchored"
    open_now: set[str] = set()
    for alarm in book.of(Alarm):
        assert (alarm.fm in open_now) == (alarm.action == "closed")
        open_now ^= {alarm.fm}
    causes = {amendment.cause for amendment in book.of(Amendment)}
    assert causes <= {alarm.seq for alarm in raised}
    charters = [amendment for amendment in book.of(Amendment) if amendment.what == "charter"]
    wordings = {change.to for amendment in charters for change in amendment.change}
    assert all(f"amendments/{word}" in _templates(tmp_path / "run") for word in wordings)


@pytest.mark.slow
def test_a_person_can_close_an_alarm(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(9), profile="gates")
    play(session, Script(seed=3))
    raised = session.book().state.open_alarms()
    assert raised, "this script leaves an alarm open"
    acknowledge(session, raised[0].fm, "seen, and it does not matter here")
    assert raised[0].seq not in {alarm.seq for alarm in session.book().state.open_alarms()}


class Yielding(Script):
    """Everybody gives up whatever differs from the lead, without a word why."""

    def _make(self, book: Book, step: Step, rng: random.Random, known: list[Any]) -> dict[str, Any]:
        reply = super()._make(book, step, rng, known)
        if step.task != "F":
            return reply
        round_ = step.name.round
        stances = {(p.role, p.check_id): p.stance for p in book.state.positions.values() if p.round == round_}
        lead = book.state.rounds[round_].lead
        flips: list[dict[str, object]] = [
            {"check_id": check, "to": stances[lead or "", check], "because": []}
            for (role, check), stance in stances.items()
            if role == step.role and stances.get((lead or "", check), stance) != stance
        ]
        return reply | {"flips": flips}


@pytest.mark.slow
def test_giving_in_puts_a_stress_round_of_the_critic_into_the_plan(tmp_path: Path) -> None:
    """Nobody was to be absent in this plan, so the next round is held without the critic."""
    session = begin(tmp_path / "run", rows(9), profile="gates")
    play(session, Yielding(seed=3))
    book = session.book()
    changed = [event for event in book.of(Amendment) if event.what == "plan"]
    assert changed, "an alarm that wants a stress round"
    (change,) = changed[0].change
    opened = next(event for event in book.of(RoundOpened) if event.cause == changed[0].seq)
    assert change.path == f"plan.{opened.round}.absent"
    assert change.to == opened.absent == opened.planned_stress
    assert opened.round > changed[0].round
    assert opened.predicted_signature
    assert all(event.ok for event in book.of(Validation))
    assert re_execute(book, session.protocol, session.controller).identical
    assert book.state.opened is not None
    assert {row.round: row.absent for row in book.state.opened.plan}[opened.round] == opened.absent


def test_a_fork_keeps_the_plan_that_an_alarm_had_changed(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(5), profile="gates")
    play(session, Yielding(seed=3))
    book = session.book()
    changed = next(event for event in book.of(Amendment) if event.what == "plan")
    made = fork(
        session.run,
        tmp_path / "fork",
        Wish(changed.round + 1),
        name="run",
        moot="0.1.0",
        clock=clock(),
    )
    assert made.opened.plan == book.state.opened.plan  # type: ignore[union-attr]  # a run has an opening
    assert made.book().of(RoundOpened)[-1].absent == "critic"


def test_a_planned_absence_is_not_planned_twice(tmp_path: Path) -> None:
    state = begin(tmp_path / "run", rows(5, absent={4: "critic"}), profile="gates").book().state
    assert round_to_stress(state, "critic") is None
    assert round_to_stress(state, "action") == 2
    assert round_to_stress(state, "verifier") is None


def test_a_cap_refuses_more_claims_until_its_alarm_is_closed(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(3), profile="gates")
    book = session.book()
    assert claim_cap(book.state) == 4
    alarm = Alarm(
        round=1, phase="G", by="controller", fm="FM-5", action="raised", verdict="ALARM", params="0" * 64
    )
    cap = Amendment(
        round=1,
        phase="G",
        by="controller",
        what="reply_rule",
        change=(Change(path=CLAIM_CAP, from_=4, to=2),),
        cause=2,
        reason="too many claims",
    )
    step(book.state, msgspec.structs.replace(alarm, seq=2))
    step(book.state, msgspec.structs.replace(cap, seq=3))
    assert claim_cap(book.state) == 2
    closed = msgspec.structs.replace(alarm, seq=4, action="closed", closes=2)
    step(book.state, closed)
    assert claim_cap(book.state) == 4


def test_nothing_is_raised_where_nothing_happened(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(3), profile="gates")
    assert responses(session.book(), "G", 2, "0" * 64) == ()


def _templates(path: Path) -> set[str]:
    run = RunStore(path)
    opened = run.book().state.opened
    assert opened is not None
    return set(read_prompt_set(run.blobs.read(opened.prompt_set) or b"")["templates"])
