"""F-10: a head that never ends, more connections than files, and complaints without pause; real sockets, loopback."""

from __future__ import annotations

import errno
import json
import os
import resource
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from starlette.testclient import TestClient

from ledger.store.disk import readable
from moot.web import server
from moot.web.guard import Address
from moot.web.run_index import RunIndex
from moot.web.server import (
    BACKLOG_MAX,
    CONNECTIONS_MAX,
    Complaints,
    ConnectionLimits,
    create_app,
    limits,
)
from tests.web.viewer import ROOT

SECONDS: Final = 30
"""How long a test waits for what must come at once."""
FILES: Final = 64
EXAMPLE: Final = ROOT / "runs" / "examples" / "crux-balance"
STARTED: Final = (
    "import sys, moot.web.server as c; c.HEAD_SECONDS = float(sys.argv.pop(1)); c.STALL_SECONDS = 0.5;"
    "from moot.__main__ import main; sys.exit(main(sys.argv[1:]))"
)


class Served(NamedTuple):
    port: int
    process: subprocess.Popen[str]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), SECONDS)

    def asked(self, path: str = "/") -> bytes:
        return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n".encode()

    def sockets(self) -> int:
        """How many the viewer holds."""
        files = Path(f"/proc/{self.process.pid}/fd").iterdir()
        return sum(file.readlink().name.startswith("socket:") for file in files if file.is_symlink())

    def page(self) -> bytes:
        """The list of runs, or what is said instead."""
        with self.connect() as one:
            one.sendall(self.asked() + b"Connection: close\r\n\r\n")
            return everything(one)


def everything(one: socket.socket) -> bytes:
    """What comes until the other side closes."""
    parts = []
    try:
        while part := one.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@contextmanager
def served(runs: Path, files: int | None = None, seconds: float = 0.5) -> Generator[Served]:
    """A viewer with short times, perhaps with few files."""
    command = [
        sys.executable,
        "-c",
        STARTED,
        str(seconds),
        "serve",
        str(runs),
        "--port",
        "0",
        "--no-open",
        "--json",
    ]

    def few() -> None:
        if files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=few,
    ) as process:
        try:
            assert process.stdout is not None
            yield Served(json.loads(process.stdout.readline())["port"], process)
        finally:
            process.terminate()
            process.wait(SECONDS)


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with served(tmp_path_factory.mktemp("runs")) as answering:
        yield answering


def test_who_says_nothing_is_told_that_it_is_late(viewer: Served) -> None:
    with viewer.connect() as silent:
        assert everything(silent).startswith(b"HTTP/1.1 408 ")


def test_a_head_that_trickles_ends_at_its_time(viewer: Served) -> None:
    """F-10: a byte now and then does not wind the clock up again."""
    with viewer.connect() as slow:
        slow.sendall(viewer.asked())
        said = b""
        for _ in range(600):
            readable, _, _ = select.select([slow], [], [], 0.05)
            if readable:
                said = everything(slow)
                break
            slow.sendall(b"X-A: b\r\n")
        assert said.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("trickle", [b"", b"GET / HT"])
def test_a_second_head_has_a_time_too(viewer: Served, trickle: bytes) -> None:
    with viewer.connect() as one:
        one.sendall(viewer.asked() + b"\r\n" + trickle)
        said = everything(one)
        assert said.startswith(b"HTTP/1.1 200 ")
        assert b"HTTP/1.1 408 " in said


def test_a_body_that_never_comes_holds_no_connection(viewer: Served) -> None:
    with viewer.connect() as one:
        one.sendall(viewer.asked() + b"Content-Length: 1000000\r\n\r\n")
        assert everything(one).startswith(b"HTTP/1.1 200 ")


def test_a_head_in_pieces_within_its_time_is_answered(viewer: Served) -> None:
    with viewer.connect() as one:
        for piece in (viewer.asked()[:9], viewer.asked()[9:], b"Connection: close\r\n", b"\r\n"):
            one.sendall(piece)
        assert everything(one).startswith(b"HTTP/1.1 200 ")


def soon(holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold within the time that a test waits."""
    for _ in range(SECONDS * 20):
        if holds():
            return True
        select.select([], [], [], 0.05)
    return False


@pytest.mark.slow
def test_who_takes_nothing_of_an_answer_is_let_go(tmp_path: Path) -> None:
    """F-10: pages are asked for and not read; the connection is cut, and the viewer answers others as ever."""
    with served(tmp_path) as viewer, socket.socket() as greedy:
        alone = viewer.sockets()
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        greedy.settimeout(SECONDS)
        greedy.connect(("127.0.0.1", viewer.port))
        greedy.sendall((viewer.asked("/static/style.css") + b"\r\n") * 2_000)
        assert soon(lambda: viewer.sockets() > alone), "the connection was never taken"
        assert soon(lambda: viewer.sockets() == alone), "the connection is held"
        assert viewer.page().startswith(b"HTTP/1.1 200 ")


def test_who_takes_an_answer_slowly_gets_all_of_it(tmp_path: Path) -> None:
    """The page is one write, and takes several times as long as a client may stand still."""
    for n in range(1_500):
        (tmp_path / f"{'x' * 200}-{n}").mkdir()
        (tmp_path / f"{'x' * 200}-{n}" / "head").write_text("no head of a run")
    with served(tmp_path, seconds=SECONDS) as viewer, socket.socket() as slow:
        whole = viewer.page()
        assert len(whole) > 1_000_000
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        slow.settimeout(SECONDS)
        slow.connect(("127.0.0.1", viewer.port))
        slow.sendall(viewer.asked() + b"Connection: close\r\n\r\n")
        parts = []
        while part := slow.recv(len(whole) // 120):
            parts.append(part)
            time.sleep(0.02)
        assert len(parts) > 75  # longer than a client may stand still
        assert len(b"".join(parts)) == len(whole)


@pytest.mark.slow  # waits to see that nothing happens
def test_more_connections_than_files_neither_spin_nor_flood(tmp_path: Path) -> None:
    """F-10: with 64 open files and 200 connections some are told 503, the others are late; then all is as before."""
    with served(tmp_path, FILES, 4.0) as few, ExitStack() as stack:
        many = [stack.enter_context(few.connect()) for _ in range(200)]
        told = [everything(one)[:13] for one in many]
        assert set(told) <= {b"HTTP/1.1 503 ", b"HTTP/1.1 408 ", b""}
        assert told.count(b"HTTP/1.1 503 ") > 0
        assert told.count(b"HTTP/1.1 408 ") >= 1
        assert few.page().startswith(b"HTTP/1.1 200 ")
        few.process.terminate()
        _, said = few.process.communicate(timeout=SECONDS)
        assert said.count("\n") <= 1, said[:2_000]
        assert "Traceback" not in said


def limits_of(files: int) -> ConnectionLimits:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource, "getrlimit", lambda _: (files, files))
        return limits()


def test_the_limits_leave_files_for_pages() -> None:
    assert limits_of(10**6) == (CONNECTIONS_MAX, BACKLOG_MAX, 400)
    for files in (8, 16, 64, 256, 1_024, 4_096):
        found = limits_of(files)
        assert found.connections >= 1
        assert found.connections + found.backlog <= max(2, files // 2)
    assert limits_of(resource.RLIM_INFINITY) == limits_of(10**6)


@pytest.mark.parametrize("files", [8, 64, 256, 1_024, 10**6])
def test_live_viewers_leave_connections_for_pages(files: int) -> None:
    found = limits_of(files)
    assert found.viewers >= 1
    assert found.viewers <= max(1, found.connections * 2 // 3)


def test_live_viewers_cannot_fill_a_viewer_with_few_files(tmp_path: Path) -> None:
    """With 64 open files there are 24 connections: some of those who look on are told 503, and pages are answered."""
    shutil.copytree(EXAMPLE, tmp_path / "run")
    with served(tmp_path, FILES, SECONDS) as few, ExitStack() as stack:
        told = []
        for _ in range(limits_of(FILES).connections - 2):
            one = stack.enter_context(few.connect())
            one.sendall(few.asked("/run/run/stream") + b"\r\n")
            told.append(one.recv(13))
        assert set(told) == {b"HTTP/1.1 200 ", b"HTTP/1.1 503 "}
        assert told.count(b"HTTP/1.1 200 ") == limits_of(FILES).viewers
        assert few.page().startswith(b"HTTP/1.1 200 ")


def test_a_fault_on_a_page_is_said_in_the_terminal_and_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: object) -> str:
        raise ZeroDivisionError("one by none")

    monkeypatch.setattr("moot.web.server.PAGES", (("/", faulty),))
    said: list[str] = []
    monkeypatch.setattr(server, "err", said.append)
    app = create_app(RunIndex(tmp_path), Address("127.0.0.1", 80))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        answer = client.get("/")
    assert answer.status_code == 500
    assert "the terminal that serves it says how" in answer.text
    assert said == ["moot: the page / failed: ZeroDivisionError('one by none')\n"]


def test_a_page_that_finds_no_free_file_names_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "templates/runs.html")

    def unreadable(*_: object) -> str:
        with readable(tmp_path / "head"):
            return full()

    monkeypatch.setattr("moot.web.server.PAGES", (("/", full), ("/run", unreadable)))
    said: list[str] = []
    monkeypatch.setattr(server, "err", said.append)
    app = create_app(RunIndex(tmp_path), Address("127.0.0.1", 80))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        client.get("/")
        assert "ulimit -n" in client.get("/run").text
    assert len(said) == 1
    assert "ulimit -n" in said[0]
    assert "Too many open files" in said[0]


@pytest.mark.slow
def test_complaints_are_one_line_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-10: a rate on log lines, with the count of those that were not said."""
    said: list[str] = []
    now = [0.0]
    monkeypatch.setattr(server, "err", said.append)
    monkeypatch.setattr("moot.web.server.time.monotonic", lambda: now[0])
    complain = Complaints()
    for _ in range(10_000):
        complain(
            None,
            {"message": "socket.accept()\nout of\x1b[31m resource", "exception": OSError(24, "too many")},
        )
    assert len(said) == 1
    assert said[0].count("\n") == 1
    assert "\x1b" not in said[0]
    assert "ulimit" in said[0]
    now[0] = 61.0
    complain(None, {"message": "x" * 10_000})
    assert len(said) == 2
    assert "9999 more" in said[1]
    assert len(said[1]) < 1_000
