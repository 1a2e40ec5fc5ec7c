"""`--on-wait` and `--on-end`: real programs and a real address are told how a run stands, and change nothing."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from tests.cli.conftest import Moot

REPLY = {"sections": [{"name": "main", "text": "One stream."}], "responds_to": [], "options": []}
PASS = {
    "plan": "One stream.",
    "assumptions": [],
    "criticisms": [
        {
            "claim": f"It is slow with {count} writers.",
            "text": "It may be.",
            "disposition": "rejected",
            "reason": "It was measured.",
            "revision": None,
            "question": None,
        }
        for count in (2, 3, 4)
    ],
    "decision": "One stream.",
    "revised": "One stream.",
    "confidence": 3,
    "falsifiers": ["A line is lost."],
    "requirements": [],
}
QUESTION = ("run", "-q", "Which?", "--single", "--seats", "host", "--out", "run")


class Hook:
    """A server on loopback: what was posted to it, and how it answers."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, Any]] = []
        self.answer: tuple[int, str | None] = (204, None)
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["content-length"]))
                hook.posted.append((self.path, json.loads(content)))
                code, place = hook.answer
                self.send_response(code)
                if place is not None:
                    self.send_header("location", place)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def hook() -> Iterator[Hook]:
    one = Hook()
    serving = threading.Thread(target=one.server.serve_forever)
    serving.start()
    yield one
    one.server.shutdown()
    serving.join()
    one.server.server_close()


def program(path: Path, body: str) -> str:
    """A program of this interpreter, in the words of `--on-end`."""
    path.write_text(body)
    return f"{quote(sys.executable)} {quote(str(path))}"


def test_a_program_and_an_address_are_told_when_it_waits_and_when_it_ends(
    moot: Moot, tmp_path: Path, hook: Hook
) -> None:
    keep = program(tmp_path / "keep.py", "import sys; open('told.json', 'wb').write(sys.stdin.buffer.read())")
    said = moot(*QUESTION, "--on-wait", f"{hook.url}/waits", "--on-end", keep, "--json")
    assert said.code == 4
    assert hook.posted == [("/waits", said.json)]
    (name,) = said.json["waiting"]
    (tmp_path / "reply.json").write_text(json.dumps(PASS))
    done = moot("submit", "run", name, "reply.json", "--on-wait", f"{hook.url}/again", "--on-end", keep)
    assert done.code == 0, done.err
    told = json.loads((tmp_path / "told.json").read_text())
    assert (told["state"], told["waiting"], told["run"]) == ("finished", [], "run")
    assert told["outcome"] == moot("status", "run", "--json").json["outcome"]
    assert len(hook.posted) == 1, "a run that has ended does not wait"
    (tmp_path / "told.json").unlink()
    assert moot("submit", "run", name, "reply.json", "--on-end", keep).code == 0
    assert not (tmp_path / "told.json").exists(), "the same reply again is no news"


def test_nobody_is_told_while_other_replies_are_open(moot: Moot, hook: Hook, opened: Path) -> None:
    content = json.dumps(REPLY)
    (opened.parent / "reply.json").write_text(content)
    done = moot("submit", opened, "r1.B.action", opened.parent / "reply.json", "--on-wait", hook.url)
    assert (done.code, hook.posted) == (0, [])


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("import sys; sys.exit('no such channel')", "the program ended with 1: no such channel"),
        ("import os; os.kill(os.getpid(), 9)", "the program ended with -9"),
    ],
)
def test_a_program_that_fails_is_a_warning(moot: Moot, tmp_path: Path, body: str, says: str) -> None:
    said = moot(*QUESTION, "--on-wait", program(tmp_path / "one.py", body))
    assert said.code == 4
    assert f"warning: --on-wait was not told: {says}; the run is as it is" in said.err
    assert moot("next", "run").code == 0


def test_an_address_that_fails_is_a_warning_and_a_redirect_is_not_followed(moot: Moot, hook: Hook) -> None:
    hook.answer = (302, f"{hook.url}/elsewhere")
    said = moot(*QUESTION, "--on-wait", f"{hook.url}/waits")
    assert "warning: --on-wait was not told: the address answered 302" in said.err
    assert [path for path, _ in hook.posted] == ["/waits"]
    hook.answer = (500, None)
    again = moot("run", "--resume", "run", "--seats", "host", "--on-wait", hook.url)
    assert (again.code, "answered 500" in again.err) == (4, True)


def test_a_program_that_is_not_there_is_a_warning(moot: Moot) -> None:
    said = moot(*QUESTION, "--on-wait", "./no-such-program")
    assert (said.code, "cannot be started: no such file" in said.err) == (4, True)


def test_no_shell_reads_the_words(moot: Moot, tmp_path: Path) -> None:
    moot(*QUESTION, "--on-wait", "true ; touch made")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("", "nothing to start"),
        ("http://", "is no address"),
        ("https://[::1", "is no address"),
        ("notify 'me", "cannot be read"),
    ],
)
def test_what_could_not_be_told_is_refused_before_the_run_begins(
    moot: Moot, tmp_path: Path, target: str, says: str
) -> None:
    said = moot(*QUESTION, "--on-end", target)
    assert (said.code, says in said.err) == (2, True)
    assert not (tmp_path / "run").exists()


def test_offline_tells_this_machine_alone(moot: Moot, tmp_path: Path, hook: Hook) -> None:
    said = moot(*QUESTION, "--offline", "--on-wait", "https://example.org/hook")
    assert (said.code, "example.org is not this machine" in said.err) == (2, True)
    assert not (tmp_path / "run").exists()
    assert moot(*QUESTION, "--offline", "--on-wait", hook.url).code == 4
    assert len(hook.posted) == 1


def test_a_deliberation_file_tells_nobody(moot: Moot, tmp_path: Path) -> None:
    """A file comes from whoever wrote it: the keys are unknown there."""
    (tmp_path / "one.toml").write_text('on_wait = "touch made"\n[deliberation]\nquestion = "Which?"\n')
    said = moot("run", "one.toml", "--seats", "host", "--out", "run")
    assert said.code == 2
    assert not (tmp_path / "run").exists()
