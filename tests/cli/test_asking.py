"""People at the terminal: the `human` seat, and the questions of `moot new`, both on a real terminal (a pty).

Of `moot/terminal/reply_form.py`.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.events import Statement
from moot.api import open_run
from moot.terminal.reply_form import NotFilledIn, form, reply_of
from roles.replies import Reply, StatementReply
from roles.reply_schemas import REPLIES
from roles.schema import reply_schema, schema_of
from roles.seats.port import Answer
from rounds.protocols import PROTOCOLS
from tests.cli.conftest import Moot
from tests.protocols.playing import begin
from tests.protocols.scripts import reply as reply_to
from tests.rounds.openings import begin as begin_structured, rows
from tests.rounds.scripted import Script
from tests.slowly import mostly_slow

ROOT = Path(__file__).resolve().parents[2]
REPLY = {"sections": [{"name": "main", "text": "One stream."}], "responds_to": [], "options": []}
WAIT_SECONDS = 30


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_a_person_s_reply_is_taken_and_when_nobody_is_left_the_run_waits(
    moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, json.dumps(REPLY) + "\n.\n/give-up\n")
    said = moot(
        "run", "-q", "Which storage?", "--protocol", "structured", "--seats", "human", "--out", "a", "--json"
    )
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
    said = moot(
        "run", "-q", "Which storage?", "--protocol", "structured", "--seats", "human", "--out", "a", "--json"
    )
    assert "missing" in said.err
    call = next(event.call for event in open_run("a").events if event.call)
    assert [attempt.n for attempt in call.attempts] == [1, 2]
    assert moot("check", "a", "--quiet").code == 0


def every_reply() -> list[type[Reply]]:
    """What seats of all protocols are asked for."""
    for name in PROTOCOLS:
        PROTOCOLS[name]  # its shapes are made when it is imported

    def below(kind: type[Any]) -> Iterator[type[Any]]:
        for one in kind.__subclasses__():
            yield from (one, *below(one))

    found = {
        one for one in below(Reply) if one.__name__.endswith("Reply") and not one.__name__.startswith("_")
    }
    return sorted({*found, *REPLIES}, key=lambda one: (one.__module__, one.__name__))


@pytest.mark.parametrize("reply", every_reply(), ids=lambda reply: reply.__name__)
def test_a_form_asks_for_every_field_and_an_empty_one_says_nothing(reply: type[Reply]) -> None:
    """R-22: what a person opens on can be read back, and left as it is it is no answer."""
    schema = schema_of(reply)
    assert reply_of(schema, form(schema)) is None
    names = set(schema["$defs"][reply.__name__]["properties"])
    assert names <= set(re.findall(r"^\[{0,2}([a-z_]+)", form(schema), re.M))


def filled_in(reply: dict[str, Any]) -> str:
    """A form with a reply written into it, as a person would: field by field, block by block."""

    def lines(value: dict[str, Any], path: tuple[str, ...]) -> Iterator[str]:
        for key, one in value.items():
            if isinstance(one, str):
                yield f"{key} = '''\n{one}\n'''"
            elif isinstance(one, list) and not (one and isinstance(one[0], dict)):
                yield f"{key} = {json.dumps(one)}"
            elif not isinstance(one, dict | list):
                yield f'{key} = "{"" if one is None else str(one).lower()}"'
        for key, one in value.items():
            if isinstance(one, dict):
                yield f"[{'.'.join((*path, key))}]"
                yield from lines(one, (*path, key))
            for inner in one if isinstance(one, list) and one and isinstance(one[0], dict) else ():
                yield f"[[{'.'.join((*path, key))}]]"
                yield from lines(inner, (*path, key))

    return "\n".join(lines(reply, ()))


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_what_is_written_into_a_form_is_the_reply(name: str, tmp_path: Path) -> None:
    """R-22: for every step of every protocol, a lawful reply can be given in the form."""
    path, watched = tmp_path / "run", name == "structured"
    session = begin_structured(path, rows(1)) if watched else begin(path, name)
    while asked := session.pending():
        one = asked[0]
        wanted = (
            Script().reply(session.book(), one.step, one.brief.saw)
            if watched
            else reply_to(session.book(), one.step, one.brief.saw)
        )
        said = reply_of(one.brief.schema, filled_in(json.loads(wanted)))
        assert said is not None
        assert json.loads(said) == json.loads(wanted)
        session.submit(one.step.id, said, Answer("human", "trusted"))


@pytest.mark.parametrize("wrong", ["x = ", "[[sections]\n", "text = '''\nnever closed", 'a = "\\d"'])
def test_a_form_that_cannot_be_read_says_where(wrong: str) -> None:
    with pytest.raises(NotFilledIn, match=r"line|end of document"):
        reply_of(reply_schema(StatementReply), wrong)


def test_one_json_object_is_taken_as_it_stands() -> None:
    said = reply_of(
        reply_schema(StatementReply), f"#| what was asked\n{json.dumps(REPLY, indent=1)}\n#| more"
    )
    assert said is not None
    assert json.loads(said) == REPLY


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
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
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

    def press(self, key: bytes) -> None:
        """Press a key, such as Ctrl-C."""
        os.write(self._ours, key)

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


CTRL_C, CTRL_D = b"\x03", b"\x04"
FORM = """\
[[sections]]
name = "main"
text = '''
One stream, and "nothing" is lost \\ ever.

# Why
Because.
'''
"""


def editor_of(directory: Path, *acts: str) -> str:
    """An editor that does one act a call, in order, and nothing after the last; what it opened on is kept."""
    program = directory / "editor"
    cases = "\n".join(f"{n}) {act};;" for n, act in enumerate(acts, 1))
    program.write_text(
        f'#!/bin/sh\ncd "{directory}"\nn=$(($(cat calls 2>/dev/null || echo 0) + 1)); echo $n > calls\n'
        f'cp "$1" "opened-$n"\ncase $n in\n{cases}\n*) ;;\nesac\n'
    )
    program.chmod(0o755)
    return str(program)


def human(directory: Path, editor: str | None, *more: str) -> Terminal:
    arguments = more or (
        "run",
        "-q",
        "Which storage?",
        "--protocol",
        "structured",
        "--seats",
        "human",
        "--out",
        "a",
    )
    return Terminal(directory, *arguments, VISUAL=editor or "", EDITOR="")


def test_a_person_fills_in_a_form_in_the_editor(tmp_path: Path) -> None:
    """R-22: it opens on the form, with the brief as a comment; what is not filled in is left out."""
    (tmp_path / "form").write_text(FORM)
    terminal = human(tmp_path, editor_of(tmp_path, 'cat form > "$1"'))
    code, said = terminal.end()
    assert code == 4, said
    assert list(open_run(tmp_path / "a").state.answered) == ["r1.B.action"]
    assert open_run(tmp_path / "a").state.given_up == {}
    opened = (tmp_path / "opened-1").read_text()
    assert any("Which storage?" in line for line in opened.splitlines() if line.startswith("#|"))
    assert "[[sections]]\n# name: lower-case, hyphens\n" in opened
    assert all(line.startswith("#|") for line in opened.split("'" * 3)[-1].splitlines() if line)
    statement = next(event for event in open_run(tmp_path / "a").events if event.kind == "statement")
    assert isinstance(statement, Statement)
    assert statement.sections[0].text == 'One stream, and "nothing" is lost \\ ever.\n\n# Why\nBecause.'
    assert statement.responds_to == ()


UNEDITED = (
    "true",
    "kill -INT $$",
    'truncate -s 3G "$1"',
    ': > "$1"',
    "sed -i 's/^#.*//' \"$1\"",
    "false",
    'rm "$1"',
    'rm "$1"; mkdir "$1"',
    'rm "$1"; mkfifo "$1"',
)


@pytest.mark.parametrize("act", mostly_slow(UNEDITED, quick=1))
def test_what_is_left_as_it_was_is_no_answer_and_costs_nothing(act: str, tmp_path: Path) -> None:
    """R-22: the run stays open, exit 4, and the same step is asked again by --resume."""
    editor = editor_of(tmp_path, act)
    code, said = human(tmp_path, editor).end()
    assert code == 4, said
    assert "r1.B.action stays open" in said
    assert "Traceback" not in said
    state = open_run(tmp_path / "a").state
    assert (state.life, state.given_up, state.answered) == ("running", {}, {})
    assert (tmp_path / "calls").read_text() == "1\n"
    (tmp_path / "form").write_text(FORM)
    (tmp_path / "calls").unlink()
    again = human(
        tmp_path, editor_of(tmp_path, 'cat form > "$1"'), "run", "--resume", "a", "--seats", "human"
    )
    assert again.end()[0] == 4
    assert list(open_run(tmp_path / "a").state.answered) == ["r1.B.action"]


def test_a_person_is_asked_again_until_the_reply_is_right(tmp_path: Path) -> None:
    """R-22: three refused replies cost nothing; the editor opens on what was written, with what is wrong."""
    (tmp_path / "form").write_text(FORM)
    wrong = [f'sed "s/main/Wrong Name {n}/" form > "$1"' for n in range(3)]
    broken = 'echo "text = " > "$1"'
    terminal = human(tmp_path, editor_of(tmp_path, *wrong, broken, 'cat form > "$1"'))
    code, said = terminal.end()
    assert code == 4, said
    run = open_run(tmp_path / "a")
    assert list(run.state.answered) == ["r1.B.action"]
    call = next(event.call for event in run.events if event.call)
    assert [attempt.n for attempt in call.attempts] == [1, 2, 3, 4]
    second, last = ((tmp_path / f"opened-{n}").read_text() for n in (2, 5))
    assert "#| " in second
    assert "'Wrong Name 0'" in second.split("[[sections]]")[0]
    assert 'name = "Wrong Name 0"' in second
    assert "This cannot be read" in last
    assert "\ntext =\n" in last


def test_a_step_is_given_up_in_the_editor(tmp_path: Path) -> None:
    terminal = human(tmp_path, editor_of(tmp_path, 'echo /give-up > "$1"'))
    assert terminal.end()[0] == 4
    assert list(open_run(tmp_path / "a").state.given_up) == ["r1.B.action"]


def test_ctrl_c_in_the_editor_is_the_editors(tmp_path: Path) -> None:
    """R-22: it ends neither the run nor the other seats' calls."""
    (tmp_path / "form").write_text(FORM)
    act = 'trap "cat form > \\"$1\\"; exit 0" INT; touch ready; while :; do sleep 0.1; done'
    terminal = human(tmp_path, editor_of(tmp_path, act))
    terminal.expect("your editor opens")
    deadline = time.monotonic() + WAIT_SECONDS
    while not (tmp_path / "ready").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    terminal.press(CTRL_C)
    code, said = terminal.end()
    assert code == 4, said
    assert list(open_run(tmp_path / "a").state.answered) == ["r1.B.action"]


def test_an_editor_that_is_not_there_is_said(tmp_path: Path) -> None:
    code, said = human(tmp_path, "/no/such/editor --wait").end()
    assert code == 4
    assert "cannot be started" in said
    assert "Traceback" not in said


def test_one_ctrl_c_ends_the_waiting_for_a_line(tmp_path: Path) -> None:
    """R-22: it took three, and ended in a traceback."""
    terminal = human(tmp_path, None)
    terminal.expect("End with a line")
    terminal.press(b"half a li")
    terminal.press(CTRL_C)
    code, said = terminal.end()
    assert code == 4, said
    assert "interrupted; everything accepted is kept" in said
    assert "Traceback" not in said
    assert open_run(tmp_path / "a").state.stopped_by == "human"


def test_ctrl_d_leaves_and_the_form_can_be_typed(tmp_path: Path) -> None:
    """R-22: without an editor the same form is taken, and the end of input leaves the step open."""
    terminal = human(tmp_path, None)
    terminal.expect("End with a line")
    terminal.type(".")
    terminal.expect("Nothing was written")
    for line in FORM.splitlines():
        terminal.type(line)
    terminal.type(".")
    terminal.expect("r1.C.")
    terminal.expect("End with a line")
    terminal.press(CTRL_D)
    code, said = terminal.end()
    assert code == 4, said
    assert "stays open" in said
    assert list(open_run(tmp_path / "a").state.answered) == ["r1.B.action"]
    assert open_run(tmp_path / "a").state.given_up == {}
