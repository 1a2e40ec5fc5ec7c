"""R-12: one function says whether a run is stopped, and a stop holds until the run really goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.events import Amendment, RunClosed
from ledger.redaction.removal import redact
from ledger.state.amendments import ends_stop
from ledger.state.decided import in_force
from ledger.state.fold import fold
from ledger.store.store import RunStore
from moot.api import open_run
from moot.app import session as working
from moot.app.session import Session
from moot.mcp.seat_tools import has_news, public_status
from moot.view.labels import labels_of_run
from moot.view.stop_checks import ended
from moot.view.story import tell
from moot.web.overview import standing_of
from moot.web.rounds import steps_in_progress
from roles.seats.host import HostSeat
from roles.seats.port import Answer
from rounds.run import human_actions as people
from rounds.run.driver import Drive
from rounds.run.session import RunSession
from tests.cli.conftest import Moot, moot
from tests.rounds.openings import ROLES, begin, play, rows
from tests.rounds.scripted import Script

__all__ = ["moot"]
ANSWER = Answer("command", "trusted")


@pytest.fixture
def stopped(tmp_path: Path) -> RunSession:
    """A run of two rounds that a person stopped in the second, with an open question and decisions in force."""
    session = begin(tmp_path / "run", rows(2))
    while session.book().state.round < 2 or not any(
        s.startswith("r2.B") for s in session.book().state.answered
    ):
        asked = session.pending()[0]
        content = Script().reply(session.book(), asked.step, asked.brief.saw)
        session.submit(asked.step.id, content, ANSWER)
    session.stop("human")
    assert session.book().state.life == "stopped"
    return session


def _answer(session: RunSession) -> object:
    state = session.book().state
    return people.answer(session, next(one for one in state.concerns if one not in state.resolved), "Yes.")


def _a_reply(session: RunSession) -> str:
    """The hash of a raw reply."""
    return next(event.call.reply for event in session.book().events if event.call is not None)


ACTS: dict[str, Callable[[RunSession], object]] = {
    "note": lambda session: people.note(session, "The model is on holiday."),
    "answer": _answer,
    "override": lambda session: people.override(session, in_force(session.book().state)[0], "No."),
    "note twice": lambda session: (people.note(session, "One."), people.note(session, "Two.")),
    "redaction": lambda session: redact(
        session.run, [_a_reply(session)], "It names a person.", at="2026-01-02T00:00:00.000000Z"
    ),
}


@pytest.mark.parametrize("act", sorted(ACTS))
def test_what_a_person_adds_wakes_nobody(stopped: RunSession, act: str, moot: Moot) -> None:
    """R-12: everybody who asks still hears that the run is stopped, and why."""
    ACTS[act](stopped)
    path = stopped.run.path
    state = fold(RunStore(path).events())
    assert (state.life, state.stopped_by) == ("stopped", "human")
    assert moot("status", path, "--json").json["state"] == "stopped"
    assert "stopped, round 2" in moot("status", path).out
    assert moot("next", path, "--json").json["stopped_by"] == "human"
    told = public_status("run", Session(path))
    assert (told.state, told.stopped_by) == ("stopped", "human")
    assert has_news(Session(path), "critic")  # a seat that waits is woken, and told
    view = open_run(path).view
    assert standing_of(view) == "stopped"
    assert steps_in_progress(view) == {}
    book = view.book
    assert any(
        "stopped in round 2, as a person or a signal stopped it" in label.text
        for label in labels_of_run(book)
    )
    assert tell(book).closing is not None
    assert "stopped because a person or a signal stopped it" in ended(state)
    before = len(book.events)
    assert stopped.stop("human") == ()  # it is stopped: nothing to close
    assert len(RunStore(path).events()) == before


def test_a_seat_does_not_wait_for_a_stopped_run(
    stopped: RunSession, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-12: `next --wait` returns at once, whoever wrote a note meanwhile."""

    def never(*_: object) -> bool:
        raise AssertionError("it waits")

    monkeypatch.setattr(working, "_has_news", never)
    people.note(stopped, "A note.")
    said = moot("next", stopped.run.path, "--role", "verifier", "--wait", "600")
    assert said.code == 4
    assert "the run was stopped, as a person or a signal stopped it" in said.out


def test_a_stop_is_over_when_a_reply_comes(stopped: RunSession) -> None:
    """R-12: an event of the protocol ends a stop; after it nobody calls the run stopped."""
    people.note(stopped, "A note.")
    asked = stopped.pending()[0]
    stopped.submit(asked.step.id, Script().reply(stopped.book(), asked.step, asked.brief.saw), ANSWER)
    book = stopped.book()
    assert (book.state.life, book.state.stopped_by) == ("running", None)
    assert tell(book).closing is None
    assert ended(book.state) == "The run has not stopped."


def test_a_driver_that_goes_on_says_so_even_when_all_its_seats_answer_from_outside(
    stopped: RunSession,
) -> None:
    """R-12: with host seats nothing else would tell the seats that the stop is over."""
    people.note(stopped, "A note.")
    seats = dict.fromkeys(ROLES, HostSeat())
    outcome = asyncio.run(Drive(stopped, seats, monotonic=lambda: 0.0).run())
    assert outcome.state == "waiting"
    assert stopped.book().state.life == "running"
    last = stopped.book().events[-1]
    assert isinstance(last, Amendment)
    assert (last.by, last.what, [(one.path, one.to) for one in last.change]) == (
        "human",
        "note",
        [("run", "running")],
    )
    asyncio.run(Drive(stopped, seats, monotonic=lambda: 0.0).run())
    assert stopped.book().events[-1] == last  # once is enough


def test_a_run_may_be_stopped_and_go_on_several_times(stopped: RunSession, moot: Moot) -> None:
    """R-12: each stop is one closing, and the run ends, checks and re-executes as any other."""
    for _ in range(2):
        asyncio.run(Drive(stopped, dict.fromkeys(ROLES, HostSeat()), monotonic=lambda: 0.0).run())
        assert stopped.book().state.life == "running"
        stopped.stop("human")
        people.note(stopped, "A note.")
        assert stopped.book().state.stopped_by == "human"
    assert play(stopped).state == "finished"
    people.note(stopped, "After the end.")
    assert stopped.book().state.life == "finished"
    closings = [event.state for event in stopped.book().events if isinstance(event, RunClosed)]
    assert closings == ["stopped"] * 3 + ["finished"]
    assert moot("check", stopped.run.path, "--quiet").code == 0
    assert moot("replay", stopped.run.path, "--re-execute", "--quiet").code == 0


def test_a_run_that_went_on_after_a_stop_is_stopped_again_by_its_round_budget(
    tmp_path: Path, moot: Moot
) -> None:
    """R-12: a stop in a round that was gone on with does not count as the round budget's stop."""
    from ledger.events.run import Budgets

    session = begin(tmp_path / "run", rows(3), budgets=Budgets(rounds=1))
    session.stop("human")
    assert play(session).reason == "budget_rounds"
    assert session.book().state.stopped_by == "budget_rounds"
    people.note(session, "A note.")
    assert play(session).reason == "budget_rounds"
    assert session.book().state.stopped_by == "budget_rounds"
    assert moot("next", session.run.path, "--json").json["stopped_by"] == "budget_rounds"


def test_events_that_end_a_stop(stopped: RunSession) -> None:
    """R-12: whatever a seat or the controller wrote ends a stop; of a person's acts only new limits and going on do."""
    ACTS["note"](stopped)
    people.amend_budgets(stopped, {"calls": 500})
    *_, note, budget = stopped.book().events
    assert not ends_stop(note)
    assert ends_stop(budget)
    assert all(ends_stop(event) for event in stopped.book().events if event.by != "human")
