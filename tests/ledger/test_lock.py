"""The lock of a run: writers wait in the order of asking, and who dies in the queue holds nobody up."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.events import Amendment
from ledger.store.failures import LockTimeout
from ledger.store.lock import FLOCK, locked
from ledger.store.store import RunStore
from moot.app.session import Session
from tests.rounds.openings import begin, rows
from tests.slowly import mostly_slow

QUEUE = (
    "import sys, pathlib; from ledger.store.lock import locked\n"
    "with locked(pathlib.Path(sys.argv[1]), 30.0):\n"
    "    print('held', flush=True); sys.stdin.read(1)\n"
)


Child = subprocess.Popen[bytes]
Start = Callable[..., Child]


@pytest.fixture
def start() -> Iterator[Start]:
    """`start(script, *arguments)`, or `start("-m", "moot", …)`: a child that does not outlive the test."""
    children: list[Child] = []

    def started(*arguments: object) -> Child:
        command = [sys.executable, *(() if arguments[0] == "-m" else ("-c",)), *map(str, arguments)]
        pipe = subprocess.PIPE
        children.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe))
        return children[-1]

    yield started
    for child in children:
        child.kill()
        child.communicate()


def tickets(directory: Path) -> int:
    """How many open files hold a lock on the lock file, as the kernel lists them."""
    identity = f":{os.stat(directory / 'lock').st_ino} "
    return sum(identity in line for line in Path("/proc/locks").read_text().splitlines())


def until(directory: Path, count: int) -> None:
    deadline = time.monotonic() + 20
    while tickets(directory) != count:
        assert time.monotonic() < deadline, f"{tickets(directory)} tickets, not {count}"
        time.sleep(0.01)


def held(process: Child) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def test_waiters_come_in_the_order_of_asking_and_a_killed_one_is_skipped(
    tmp_path: Path, start: Start
) -> None:
    queue: list[Child] = []
    with locked(tmp_path):
        for count in range(2, 7):
            queue.append(start(QUEUE, tmp_path))
            until(tmp_path, count)
        for dead in (queue.pop(1), queue.pop(2)):
            dead.kill()
            dead.communicate()
        until(tmp_path, 4)
        late = start(QUEUE, tmp_path)
        until(tmp_path, 5)
    for process in (*queue, late):
        assert held(process) == b"held\n"
        assert tickets(tmp_path) == 1 + [*queue, late][::-1].index(process)
        process.communicate(b"x")
        assert process.returncode == 0


def test_a_place_is_never_before_one_that_was_taken_between_the_look_and_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue looked empty, but another process took the lock before the ticket: the later one goes behind it."""
    other = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.fcntl(other, fcntl.F_OFD_SETLK, FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 3, 1, 0))
    call, looks = fcntl.fcntl, list[int]()

    def late(descriptor: int, command: int, wish: bytes) -> Any:
        looks.append(command)
        return FLOCK.pack(fcntl.F_UNLCK, 0, 0, 0, 0) if len(looks) == 1 else call(descriptor, command, wish)

    monkeypatch.setattr(fcntl, "fcntl", late)
    with pytest.raises(LockTimeout), locked(tmp_path, 0.05):
        raise AssertionError("two at once")
    os.close(other)
    assert looks[0] == fcntl.F_OFD_GETLK


def test_the_lock_of_a_killed_holder_is_free(tmp_path: Path, start: Start) -> None:
    process = start(QUEUE, tmp_path)
    assert held(process) == b"held\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with locked(tmp_path, 5.0):
        assert tickets(tmp_path) == 1


def test_who_gives_up_leaves_the_queue(tmp_path: Path) -> None:
    with locked(tmp_path):
        with pytest.raises(LockTimeout, match=r"waited 0\.05 s"), locked(tmp_path, 0.05):
            raise AssertionError("two at once")
        assert tickets(tmp_path) == 1


def test_who_waits_is_told_why(tmp_path: Path, start: Start) -> None:
    with locked(tmp_path):
        process = start(QUEUE, tmp_path)
        assert process.stderr is not None
        line = process.stderr.readline().decode()
    process.communicate(b"x")
    assert line == f"moot: waiting for other processes that write to '{tmp_path}' (30 s at most)\n"


def test_a_lock_file_that_was_removed_while_somebody_waits_is_made_anew(tmp_path: Path, start: Start) -> None:
    with locked(tmp_path):
        process = start(QUEUE, tmp_path)
        until(tmp_path, 2)
        (tmp_path / "lock").unlink()
        assert held(process) == b"held\n"
    process.communicate(b"x")


def test_many_who_hold_it_for_a_moment_are_never_two(tmp_path: Path, start: Start) -> None:
    script = (
        "import os, sys, pathlib; from ledger.store.lock import locked\n"
        "place = pathlib.Path(sys.argv[1])\n"
        "for _ in range(60):\n"
        "    with locked(place, 60.0):\n"
        "        os.close(os.open(place / 'alone', os.O_CREAT | os.O_EXCL)); (place / 'alone').unlink()\n"
    )
    crowd = [start(script, tmp_path) for _ in range(8)]
    assert [process.wait(120) for process in crowd] == [0] * 8


@pytest.mark.parametrize("writers", mostly_slow([8, 20], quick=1))
def test_many_processes_that_submit_at_once_all_land(tmp_path: Path, writers: int, start: Start) -> None:
    run = tmp_path / "run"
    begin(run, rows(1))
    reply = {"sections": [{"name": "main", "text": "Hello."}], "responds_to": [], "options": []}
    (tmp_path / "reply.json").write_text(json.dumps(reply))
    step = Session(run).open_ids[0]
    before = len(RunStore(run).events())
    with locked(run):
        killed = start("-m", "moot", "note", run, "killed")
        until(run, 2)
        crowd = [start("-m", "moot", "submit", run, step, tmp_path / "reply.json")]
        # It stands behind the other, and must not wait for a process that is gone.
        until(run, 3)
        killed.kill()
        killed.communicate()
    for n in range(1, writers):
        submit = ("submit", run, step, tmp_path / "reply.json")
        crowd.append(start("-m", "moot", *(submit if n % 10 == 0 else ("note", run, f"remark {n}"))))
    ended = [process.communicate(timeout=120) for process in crowd]
    assert [process.returncode for process in crowd] == [0] * writers, ended
    events = RunStore(run).events()
    remarks = sorted(event.reason for event in events if isinstance(event, Amendment))
    assert remarks == sorted(f"remark {n}" for n in range(writers) if n % 10)
    assert Session(run).open_ids != [step]
    assert len(events) > before + writers - 2
