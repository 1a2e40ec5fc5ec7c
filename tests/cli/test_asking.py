"""People at the terminal: the `human` seat, and the questions of `moot new`, both on a real terminal (a pty)."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from moot.api import open_run
from moot.asking import skeleton
from roles.publish_schemas import REPLIES
from roles.replies import Reply
from roles.schema import reply_schema
from tests.cli.conftest import Moot

ROOT = Path(__file__).resolve().parents[2]
REPLY = {"sections": [{"name": "main", "text": "One stream."}], "responds_to": [], "options": []}
WAIT_SECONDS = 30


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_a_person_s_reply_is_taken_and_when_nobody_is_left_the_run_waits(
    moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, json.dumps(REPLY) + "\n.\n/give-up\n")
    said = moot("run", "-q", "Which storage?", "--seats", "human", "--out", "a", "--json")
    assert (said.code, said.json["state"]) == (4, "waiting")
    assert len(said.json["waiting"]) == 2
    state = open_run("a").state
    assert list(state.answered) == ["r1.B.action"]
    assert len(state.given_up) == 1
    call = next(event.call for event in open_run("a").events if event.call)
    assert (call.seat, call.isolation, call.context.mode) == ("human", "trusted", None)


def test_a_refused_reply_is_asked_again_with_what_is_wrong(
    moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, "{}\n.\n" + json.dumps(REPLY) + "\n.\n")
    said = moot("run", "-q", "Which storage?", "--seats", "human", "--out", "a", "--json")
    assert "missing" in said.err
    call = next(event.call for event in open_run("a").events if event.call)
    assert [attempt.n for attempt in call.attempts] == [1, 2]
    assert moot("check", "a", "--quiet").code == 0


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply.__name__)
def test_an_outline_has_every_field(reply: type[Reply]) -> None:
    schema = reply_schema(reply)
    outline = skeleton(schema)
    errors = list(Draft202012Validator(dict(schema)).iter_errors(outline))
    assert not [
        error.message for error in errors if error.validator in ("required", "type", "additionalProperties")
    ]


class Terminal:
    """A process on a terminal of its own."""

    def __init__(self, directory: Path, *arguments: str, **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        self._said = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moot", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=directory,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", **environment},
        )
        os.close(theirs)

    def expect(self, text: str) -> None:
        """Read until `text` was said."""
        deadline = time.monotonic() + WAIT_SECONDS
        while text not in self._said:
            assert self._read(deadline), f"{text!r} was never said: {self._said}"
        self._said = self._said.split(text, 1)[1]

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._ours, f"{line}\n".encode())

    def end(self) -> tuple[int, str]:
        """The exit code, and what was still said."""
        while self._read(time.monotonic() + WAIT_SECONDS):
            pass
        os.close(self._ours)
        return self._process.wait(WAIT_SECONDS), self._said

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            read = os.read(self._ours, 65_536)
        except OSError:  # the other side is closed
            return False
        self._said += read.decode("utf-8", "replace")
        return bool(read)


def test_new_asks_for_everything_and_argues_for_stress(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "new")
    for prompt, answer in [
        ("Field", "code review"),
        ("What is to be deliberated", ""),
        ("It needs a question", "Which storage?"),
        ("A goal", "No line is lost"),
        ("A goal", ""),
        ("An option", "One journal"),
        ("An option", ""),
        ("Casting", "softwear"),
        ("One of", "software"),
        ("Plan", "minimum-8"),
        ("Keep the stress rounds", "n"),
        ("Skip them all the same", "y"),
    ]:
        terminal.expect(prompt)
        terminal.type(answer)
    code, said = terminal.end()
    assert code == 0, said
    assert "WAIVED stress" in said
    written = tomllib.loads((tmp_path / "deliberation.toml").read_text())
    assert written["deliberation"]["question"] == "Which storage?"
    assert (written["deliberation"]["plan"], written["deliberation"]["no_stress"]) == ("minimum-8", True)
    assert written["cast"]["action"]["title"] == "Lead of the implementation"


def test_a_person_answers_in_the_editor(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(
        f'#!/bin/sh\nif [ -e once ]; then : > "$1"; else touch once; echo \'{json.dumps(REPLY)}\' > "$1"; fi\n'
    )
    editor.chmod(0o755)
    terminal = Terminal(tmp_path, "run", "-q", "Which?", "--seats", "human", "--out", "a", VISUAL=str(editor))
    code, said = terminal.end()
    assert code == 4, said
    assert list(open_run(tmp_path / "a").state.answered) == ["r1.B.action"]
    assert open_run(tmp_path / "a").state.given_up == {}
