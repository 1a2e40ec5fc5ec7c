"""Runs that wait for a person: calls of `moot run` against the fake API, and what lets them go on."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from ledger.events import Concern
from ledger.state.book import Book
from ledger.store.store import RunStore
from moot.__main__ import main
from roles.protocol import Step
from tests.fake_api.scripted import answering
from tests.fake_api.server import FakeApi
from tests.protocols.scripts import reply as scripted
from tests.rounds.scripted import Script
from tests.seats.driven import environment, sound

QUESTION = "Which storage keeps every line?"
FILES = {
    "jugalbandi": f'[deliberation]\nquestion = "{QUESTION}"\nprotocol = "jugalbandi"\n',
    "structured": (
        f'[deliberation]\nquestion = "{QUESTION}"\nprofile = "published"\n\n[[round]]\nn = 1\n\n'
        '[[round]]\nn = 2\nphases = "A,S"\n'
    ),
}


class Asking(Script):
    """A script that asks a person: jugalbandi escalates anyway, the lead of `structured` asks as `severity` says."""

    def __init__(self, severity: int = 5) -> None:
        super().__init__()
        self.severity = severity

    def reply(self, book: Book, step: Step, saw: Any) -> bytes:
        """The lawful reply of its step."""
        if book.state.opening.protocol != "structured":
            return scripted(book, step, saw)
        made: dict[str, Any] = json.loads(super().reply(book, step, saw))
        for concern in made.get("concerns", ()) if step.task == "G" else ():
            concern |= {"type": "question", "severity": self.severity, "for_human": True}
        return json.dumps(made).encode()


def called(api: FakeApi, *arguments: object) -> tuple[int, str]:
    """Exit code and standard output of a call in this process, which imports the SDK once."""
    out, err = io.StringIO(), io.StringIO()
    with (
        environment(api.environment | {"MOOT_OFFLINE_ALLOWS": "loopback"}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = main([str(argument) for argument in arguments])
    assert "Traceback" not in err.getvalue()
    return code, out.getvalue()


def asked(run: Path) -> list[str]:
    """Questions to a person that nobody answered."""
    book = RunStore(run).book()
    return [str(one.id) for one in book.of(Concern) if one.for_human and one.id not in book.state.resolved]


@pytest.fixture(params=sorted(FILES))
def waiting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[FakeApi, Path]]:
    """A run that waits, as `moot run` left it."""
    file, run = tmp_path / "plan.toml", tmp_path / "run"
    file.write_text(FILES[request.param])
    with FakeApi(answering(run, Asking())) as api:
        code, out = called(api, "run", file, "--seats", "anthropic", "--out", run, "--json", "--yes")
        end = json.loads(out)
        assert (code, end["state"], end["reason"]) == (4, "waiting", None)
        assert end["waiting"] == asked(run)
        assert end["outcome"]["status"] == "waiting"
        yield api, run


@pytest.mark.slow  # imports the SDK and serves a run
def test_it_says_what_it_waits_for_and_ends_with_the_answer(waiting: tuple[FakeApi, Path]) -> None:
    api, run = waiting
    code, out = called(api, "run", "--resume", run)
    assert code == 4
    (question, *others) = asked(run)
    assert f"waits for a person: {', '.join([question, *others])}" in out
    assert f"moot answer {run} {question} 'TEXT'" in out
    assert f"moot run --resume {run} --no-wait" in out
    code, out = called(api, "next", run)
    assert (code, f"moot answer {run} {question} 'TEXT'" in out) == (4, True)
    for one in (question, *others):
        assert called(api, "answer", run, one, "The larger one, by decree.")[0] == 0
    assert called(api, "run", "--resume", run, "--quiet")[0] == 0
    book = RunStore(run).book()
    assert book.state.finished
    if book.state.opening.protocol == "structured":
        closing = next(one for one in book.events if one.step and ".S.close." in one.step)
        sent = "".join(json.dumps(request.body) for request in api.log)
        assert "by decree" in sent, "the synthesis was written without the answer"
        assert closing.seq > max(
            one.seq for one in book.events if one.kind == "decision" and one.by == "human"
        )
    code, out = called(api, "status", run, "--json")
    outcome = json.loads(out)["outcome"]
    assert outcome["needs_you"] == []
    left = [one["text"] for one in outcome["do_now"] if "by decree" in one["text"]]
    assert bool(left) == (book.state.opening.protocol == "jugalbandi"), "told where no seat could work it in"
    assert called(api, "check", run, "--quiet")[0] == 0
    assert called(api, "replay", run, "--re-execute", "--quiet")[0] == 0
    sound(run)


@pytest.mark.slow
def test_it_goes_on_without_an_answer_where_a_person_says_so(waiting: tuple[FakeApi, Path]) -> None:
    api, run = waiting
    before = asked(run)
    assert called(api, "run", "--resume", run, "--no-wait", "--quiet")[0] == 0
    assert RunStore(run).book().state.finished
    assert set(before) <= set(asked(run)), "nobody answered"
    assert called(api, "check", run, "--quiet")[0] == 0
    assert called(api, "replay", run, "--re-execute", "--quiet")[0] == 0
    sound(run)


@pytest.mark.slow
def test_an_override_of_the_decision_is_an_answer(tmp_path: Path) -> None:
    file, run = tmp_path / "plan.toml", tmp_path / "run"
    file.write_text(FILES["jugalbandi"])
    with FakeApi(answering(run, Asking())) as api:
        assert called(api, "run", file, "--seats", "anthropic", "--out", run, "--quiet", "--yes")[0] == 4
        assert called(api, "override", run, "D-1-1", "We keep paper.")[0] == 0
    state = RunStore(run).book().state
    assert state.finished
    assert state.closing is not None
    assert state.closing.outcome == ("D-1-2",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "severity", "more"), [("structured", 4, ()), ("jugalbandi", 5, ("--no-wait",))]
)
def test_what_nobody_marked_as_needed_holds_nothing_up(
    protocol: str, severity: int, more: tuple[str, ...], tmp_path: Path
) -> None:
    file, run = tmp_path / "plan.toml", tmp_path / "run"
    file.write_text(FILES[protocol])
    with FakeApi(answering(run, Asking(severity))) as api:
        code, _ = called(api, "run", file, "--seats", "anthropic", "--out", run, "--quiet", "--yes", *more)
    assert code == 0
    assert asked(run)
