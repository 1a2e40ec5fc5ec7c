"""Alarms in a run of the profile `calibrated`: raised once, answered in a fixed wording, and replayed."""

from __future__ import annotations

from pathlib import Path

from ledger.events import Alarm, Amendment, RunClosed, Validation
from ledger.store import Run
from roles.prompt_set import read_prompt_set
from rounds.people import acknowledge
from rounds.reexecution import re_execute
from rounds.responses import responses
from rounds.session import Session
from tests.rounds.openings import begin, play, rows
from tests.rounds.scripted import Script


def _run(path: Path, seed: int = 3) -> Session:
    session = begin(path, "standard-13", profile="calibrated")
    play(session, Script(seed=seed))
    return session


def test_a_calibrated_run_ends_with_a_reason_of_its_own_and_replays(tmp_path: Path) -> None:
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
    wordings = {change.to for amendment in book.of(Amendment) for change in amendment.change}
    assert all(f"amendments/{word}" in _templates(tmp_path / "run") for word in wordings)


def test_a_person_can_close_an_alarm(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(9), profile="calibrated")
    play(session, Script(seed=3))
    raised = session.book().state.open_alarms()
    assert raised, "this script leaves an alarm open"
    acknowledge(session, raised[0].fm, "seen, and it does not matter here")
    assert raised[0].seq not in {alarm.seq for alarm in session.book().state.open_alarms()}


def test_nothing_is_raised_where_nothing_happened(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(3), profile="calibrated")
    assert responses(session.book(), "G", 2) == ()


def _templates(path: Path) -> set[str]:
    run = Run(path)
    opened = run.book().state.opened
    assert opened is not None
    return set(read_prompt_set(run.blobs.read(opened.prompt_set) or b"")["templates"])
