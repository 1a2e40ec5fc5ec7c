"""Standard output that is full, closed, slow, narrow or of another encoding: a message, an exit code, nothing lost."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Final

import pytest

from ledger.store.store import RunStore
from tests.cli.conftest import Moot
from tests.rounds.openings import begin, rows
from tests.slowly import mostly_slow

COMMAND: Final = (sys.executable, "-P", "-m", "moot")
WORDS: Final = "Zürich, 東京 😀"


def shell(redirection: str, *words: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run `moot WORDS` in a shell, with what stands behind the command there."""
    line = f'exec "$@" {redirection}'
    environment = {**os.environ, **variables}
    command = ["sh", "-c", line, "sh", *COMMAND, *words]
    return subprocess.run(command, capture_output=True, env=environment, check=False, timeout=60)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    begin(tmp_path / "run", rows(1))
    return tmp_path / "run"


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize(
    ("redirection", "reason"),
    mostly_slow(
        [(">/dev/full", "no space left on device"), (">&-", "it is closed"), ("1</dev/null", "it is closed")],
        quick=2,
    ),
)
def test_a_remark_is_kept_when_stdout_takes_nothing(
    run: Path, redirection: str, reason: str, form: list[str]
) -> None:
    ended = shell(redirection, "note", str(run), WORDS, *form)
    assert ended.returncode == 3
    said = ended.stderr.decode()
    assert said.startswith(f"moot: cannot write to standard output: {reason} (stdout); ")
    assert said.count("\n") == 1
    assert getattr(RunStore(run).events()[-1], "reason", None) == WORDS


@pytest.mark.parametrize(
    "words",
    mostly_slow(
        [["--help"], ["run", "--help"], ["help", "--all"], ["--version"], ["--help", "--json"]], quick=2
    ),
)
def test_help_too_says_that_nobody_can_read_it(words: list[str]) -> None:
    ended = shell(">/dev/full", *words)
    assert (ended.returncode, ended.stderr.count(b"\n")) == (3, 1)


def test_an_error_that_json_cannot_show_is_said_on_stderr(tmp_path: Path) -> None:
    ended = shell(">/dev/full", "status", str(tmp_path / "nothing"), "--json")
    assert ended.returncode == 3
    assert [line.split(b" (")[0].split(b" '")[0] for line in ended.stderr.splitlines()] == [
        b"moot: no run",
        b"moot: cannot write to standard output: no space left on device",
    ]


@pytest.mark.parametrize(
    "redirection",
    mostly_slow(["2>&-", "2>/dev/full >/dev/full", "2>/dev/full", ">&- 2>&-", "<&-"], quick=2),
)
def test_the_exit_code_stays_true_without_stderr(run: Path, redirection: str) -> None:
    expected = 3 if redirection.count(">") == 2 else 0
    assert shell(redirection, "status", str(run)).returncode == expected
    assert shell(redirection, "status", f"{run}-none").returncode == 2
    ended = shell(redirection, "note", str(run), WORDS)
    assert ended.returncode == expected
    assert b"Traceback" not in ended.stderr + ended.stdout
    assert getattr(RunStore(run).events()[-1], "reason", None) == WORDS


def test_a_reply_from_a_closed_stdin_is_empty(run: Path) -> None:
    ended = shell("<&-", "submit", str(run), "r1.B.action", "-")
    assert ended.returncode == 1
    assert b"the reply to r1.B.action is refused" in ended.stderr


def test_a_reader_that_has_read_enough_is_no_error(run: Path) -> None:
    with subprocess.Popen([*COMMAND, "log", str(run), "--json"], stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_pipe_that_does_not_block_gets_everything(run: Path, moot: Moot) -> None:
    """Hosts on Node make their pipes so, and both ends share it."""
    for n in range(12):
        assert moot("note", run, f"{n} " + "x" * 7_900).code == 0
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    process = subprocess.Popen([*COMMAND, "log", str(run), "--json"], stdout=writer, stderr=-1)
    os.close(writer)
    time.sleep(1.5)  # the pipe is full, and the writer waits
    with os.fdopen(reader, "rb") as stream:
        content = stream.read()
    assert process.communicate()[1] == b""
    assert process.returncode == 0
    assert len(json.loads(content)["events"]) == len(RunStore(run).events())


@pytest.mark.parametrize(
    "encoding", mostly_slow(["ascii:strict", "utf-16", "ascii", "latin-1", "cp1252", "utf-8"], quick=2)
)
def test_json_is_json_in_every_encoding(run: Path, moot: Moot, encoding: str) -> None:
    assert moot("note", run, WORDS).code == 0
    for words in (["log", str(run), "--json"], ["status", f"{run}-{WORDS}", "--json"]):
        ended = shell("", *words, PYTHONIOENCODING=encoding)
        told = json.loads(ended.stdout.decode(encoding.partition(":")[0]))
        assert WORDS in json.dumps(told, ensure_ascii=False)
    for words in (["log", str(run)], ["status", f"{run}-{WORDS}"], ["--help"]):
        ended = shell("", *words, PYTHONIOENCODING=encoding)
        assert ended.returncode in (0, 2)
        assert b"Traceback" not in ended.stdout + ended.stderr


@pytest.mark.parametrize("columns", mostly_slow([1, 2, 3, 7], quick=1))
def test_a_terminal_may_be_as_narrow_as_it_likes(run: Path, columns: int) -> None:
    for words in (["status", str(run)], ["log", str(run)], ["status", f"{run}-none"], ["run", "--help"]):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(
            [*COMMAND, *words], stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "PAGER": "cat"}
        )
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 1 << 16):
                shown += part
        except OSError:  # the terminal is gone with the process
            pass
        os.close(ours)
        assert process.wait() == (2 if words[1].endswith("none") else 0)
        assert b"Traceback" not in shown
