"""Killed at any instant: what was acknowledged stays, what was not is whole or gone, and the run goes on."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ledger.audit.verify import verify
from ledger.store.failures import NotARun
from ledger.store.store import RunStore
from tests.ledger import samples


def kill_once(path: Path, seed: int) -> None:
    """Let a committer make some commits, kill it in the middle of the next, and check what it leaves."""
    chance = random.Random(seed)
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.ledger.committer", str(path), str(seed)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    with child:
        said = [child.stdout.readline() for _ in range(1 + chance.randint(1, 6))][1:]
        time.sleep(chance.uniform(0.0, 0.01))
        child.send_signal(signal.SIGKILL)
        said += child.stdout.read().splitlines(keepends=True)
    check(path, [line.decode().split() for line in said if line.endswith(b"\n")])


def check(path: Path, acknowledged: list[list[str]]) -> None:
    read = RunStore(path).events()
    assert verify(path).ok
    for seq, identity in acknowledged:
        assert read[int(seq)].id == identity
    with RunStore(path).writer() as writer:
        now = writer.book().events
        assert now[: len(read)] == read
        assert now[-1].rest == 0
        writer.commit([samples.claim(9_999)], at=samples.AT)
    report = verify(path)
    assert (report.ok, report.problems, report.events) == (True, [], len(now) + 1)


@pytest.mark.slow  # hundreds of processes
def test_killed_at_a_random_instant(tmp_path: Path) -> None:
    for seed in range(20):
        kill_once(tmp_path / str(seed), seed)


def test_killed_while_it_is_created(tmp_path: Path) -> None:
    """A run is there whole, or it is no run and its place can be used."""
    for seed in range(8):
        path = tmp_path / str(seed)
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.ledger.committer", str(path), str(seed)], stdout=subprocess.DEVNULL
        )
        with child:
            while child.poll() is None and not any(tmp_path.glob(f"*{seed}*")):
                time.sleep(0.0005)
            time.sleep(random.Random(seed).uniform(0, 0.004))
            child.send_signal(signal.SIGKILL)
        try:
            RunStore(path).head()
        except NotARun:
            continue
        assert verify(path).ok
