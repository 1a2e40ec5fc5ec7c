"""A redraw measures how far two answers of one role differ: it comes from a context that is new to the run."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from rounds.run import engine
from rounds.run.engine import Answer, StepRefused
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from tests.protocols.crux_seats import World, begin, play, reply, submit
from validators import rulebook

WORLD = World(first={"action": 60, "guardian": 60, "observer": 60, "critic": 60})


def at_the_redraw(path: Path, options: int) -> tuple[RunSession, str]:
    """A run in which only the redraw is open, and its step."""
    session = begin(path, options=options)
    while True:
        asked = session.asked()
        ready = [one for one in asked if one.step.name.repeat == 1]
        if not ready:
            return session, asked[0].step.id
        submit(session, ready[0], WORLD)


def answer(session: RunSession, step: str, context: str | None) -> None:
    (asked,) = [one for one in session.asked() if one.step.id == step]
    content = orjson.dumps(reply(session.book(), asked.step, WORLD))
    session.submit(step, content, Answer(seat="host", isolation="trusted", context_id=context))


@pytest.mark.parametrize("options", [3, 0])
def test_the_context_of_the_first_answer_is_refused(tmp_path: Path, options: int) -> None:
    session, step = at_the_redraw(tmp_path / "run", options)
    first = step.removesuffix("~2")
    call = session.book().events[session.book().state.answered[first]].call
    assert call is not None
    with pytest.raises(StepRefused) as refused:
        answer(session, step, call.context.id)
    assert step in str(refused.value)
    assert str(call.context.id) in str(refused.value)
    answer(session, step, "c99")
    assert step in session.book().state.answered


def test_without_the_name_of_a_context_nothing_is_refused(tmp_path: Path) -> None:
    session, step = at_the_redraw(tmp_path / "run", 3)
    answer(session, step, None)
    assert step in session.book().state.answered


def test_a_run_that_was_recorded_with_one_context_for_both_breaks_no_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, step = at_the_redraw(tmp_path / "run", 3)
    with monkeypatch.context() as patched:
        patched.setattr(engine, "_check_redraw", lambda *_: None)
        call = session.book().events[session.book().state.answered[step.removesuffix("~2")]].call
        assert call is not None
        answer(session, step, call.context.id)
    book = play(session, WORLD)
    assert not rulebook.check(book, session.verdicts.context()).findings
    assert re_execute(book, session.protocol, session.controller).identical
