"""Whole scripted runs: they end, replay to the same head, and do not depend on the order of arrival.

Of `rounds/run/controller.py`, `rounds/run/session.py`.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ledger.audit.verify import verify
from ledger.events import Validation
from ledger.events.run import Budgets
from ledger.format.canonical import encode
from ledger.state.book import Book
from roles.protocol import open_steps
from roles.seats.port import Answer
from rounds.run.reexecution import re_execute
from rounds.run.session import ReplyRefused, StepRefused
from tests.protocols.playing import events_of
from tests.rounds.openings import begin, play, rows
from tests.rounds.scripted import Script
from tests.slowly import mostly_slow

HOST = Answer(seat="host", isolation="trusted", provider="scripted")


@pytest.mark.parametrize("plan", mostly_slow(["minimum-8", "standard-13"], quick=1))
def test_a_plan_runs_to_its_end_and_replays_to_the_same_head(tmp_path: Path, plan: str) -> None:
    session = begin(tmp_path / "run", plan)
    outcome = play(session, Script(seed=3))
    book = session.book()
    assert outcome.state == "finished"
    assert verify(tmp_path / "run").ok
    assert all(event.ok for event in book.of(Validation)), [event.findings for event in book.of(Validation)]
    again = re_execute(book, session.protocol, session.controller)
    assert again.divergences == ()
    assert again.identical


def test_calls_of_a_normal_round(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(2))
    play(session)
    asked = [step for step in session.book().state.answered if step.startswith("r2.") and ".S." not in step]
    assert len(asked) == 21  # 1 + 3 + 4 + 4 + 4 + 4 + 1, FORMAT 5


def _submit_all(path: Path, order: random.Random | None) -> Book:
    session = begin(path, rows(2, absent={2: "critic"}))
    script = Script(seed=5)
    while steps := list(open_steps(session.protocol, session.book().state)):
        if order is not None:
            order.shuffle(steps)
        asked = {entry.step.id: entry for entry in session.pending()}
        for step in steps:
            reply = script.reply(session.book(), step, asked[step.id].brief.saw)
            session.submit(step.id, reply, HOST)
    return session.book()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_arrival_changes_nothing(tmp_path: Path, seed: int) -> None:
    plain = _submit_all(tmp_path / "plain", None)
    assert events_of(plain) == events_of(_submit_all(tmp_path / "shuffled", random.Random(seed)))


def test_the_same_reply_again_is_accepted_and_writes_nothing(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(1))
    asked = session.pending()[0]
    reply = Script().reply(session.book(), asked.step, asked.brief.saw)
    session.submit(asked.step.id, reply, HOST)
    before = [encode(event) for event in session.book().events]
    assert session.submit(asked.step.id, reply, HOST).already
    with pytest.raises(StepRefused, match="already answered"):
        session.submit(asked.step.id, reply.replace(b"journal", b"ledger "), HOST)
    assert [encode(event) for event in session.book().events] == before


def test_a_bad_reply_writes_nothing(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(1))
    before = len(session.book().events)
    for content in (b"", b"I agree with everything.", b"{}", b'{"sections": []}'):
        with pytest.raises(ReplyRefused):
            session.submit("r1.B.action", content, HOST)
    assert len(session.book().events) == before


def test_giving_up_an_artifact_takes_its_checks_away(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(1))
    script = Script()
    while steps := open_steps(session.protocol, session.book().state):
        step = steps[0]
        if step.id == "r1.D.critic":
            session.give_up(step.id, "given_up", "the seat is gone")
            continue
        asked = next(entry for entry in session.pending() if entry.step.id == step.id)
        session.submit(step.id, script.reply(session.book(), step, asked.brief.saw), HOST)
    state = session.book().state
    assert state.finished
    assert state.checks["V-1-1"].result == state.checks["V-1-3"].result == "NOT_APPLICABLE"
    assert state.quorum.actual == state.quorum.declared - 1


def test_a_lost_verdict_reads_unclear(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(1))
    script = Script()
    while steps := open_steps(session.protocol, session.book().state):
        step = steps[0]
        if step.task == "E.check2":
            session.give_up(step.id, "timeout", "no answer for ten minutes")
            continue
        asked = next(entry for entry in session.pending() if entry.step.id == step.id)
        session.submit(step.id, script.reply(session.book(), step, asked.brief.saw), HOST)
    assert session.book().state.checks["V-1-2"].result == "UNCLEAR"


def test_a_budget_of_rounds_stops_resumably(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(3), budgets=Budgets(rounds=2))
    outcome = play(session)
    assert (outcome.state, outcome.reason) == ("stopped", "budget_rounds")
    assert verify(tmp_path / "run").ok


def test_positions_can_be_off(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(1), positions="off")
    play(session)
    assert session.book().state.finished
    assert session.book().state.positions == {}
