"""`moot run` killed at random instants: the ledger stays whole, and the run goes on to the same end.

The run plays a tape with delays, so that steps are open when the kill comes. Hundreds of kills, and that no answered
step is asked again: tests/campaign/runs.py.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ledger.audit.verify import verify
from ledger.store.store import RunStore
from roles.protocol import open_steps
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.rounds.openings import begin, clock, play, rows
from tests.rounds.scripted import Script
from validators import rulebook


def _start(run: Path, tape: Path, delay_seconds: float) -> subprocess.Popen[bytes]:
    environment = os.environ | {"MOOT_TAPE_DELAY_SECONDS": str(delay_seconds)}
    command = [
        sys.executable,
        "-m",
        "moot",
        "run",
        "--resume",
        str(run),
        "--seats",
        f"tape:{tape}",
        "--no-live",
    ]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def _is_mid_work(run: Path, session: RunSession) -> bool:
    """Whether the kill left an open step, or a commit half done."""
    half_done = bool(list(run.glob("*.tmp")))
    return half_done or bool(open_steps(session.protocol, session.book().state))


def _kill_and_resume(folder: Path, kills: int, seed: int) -> int:
    """Kill runs until there were `kills`; the number of kills that hit open work."""
    chance = random.Random(seed)
    tape = folder / "tape"
    play(begin(tape, rows(3, absent={3: "critic"})), Script(seed=seed))
    hits = done = number = 0
    while done < kills:
        number += 1
        run = folder / f"run-{number}"
        begin(run, rows(3, absent={3: "critic"}))
        while done < kills:
            process = _start(run, tape, chance.choice([0.01, 0.03, 0.1]))
            time.sleep(chance.uniform(0.2, 2.5))
            finished_first = process.poll() is not None
            process.send_signal(signal.SIGKILL)
            _, errors = process.communicate(timeout=30)
            assert b"Traceback" not in errors, errors.decode()
            report = verify(run)
            assert report.ok, report.problems
            session = RunSession(RunStore(run), standard, clock())
            if finished_first:
                break
            done += 1
            hits += _is_mid_work(run, session)
        _finish(run, tape)
    return hits


def _finish(run: Path, tape: Path) -> None:
    process = _start(run, tape, 0.0)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    session = RunSession(RunStore(run), standard, clock())
    book = session.book()
    assert book.state.finished
    assert verify(run).ok
    report = rulebook.check(book, session.verdicts.context())
    assert report.ok, report.findings
    assert set(book.state.answered) == set(RunStore(tape).book().state.answered)


@pytest.mark.slow
def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    assert _kill_and_resume(tmp_path, kills=3, seed=1) >= 1
