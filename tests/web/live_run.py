"""A deliberation that another process runs: `moot run` on a tape, with a pause before every reply."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.rounds.openings import begin, play, rows
from tests.rounds.scripted import Script

SECONDS = 60


def prepared(folder: Path, rounds: int = 2, seed: int = 5) -> tuple[Path, Path]:
    """A run whose first step is open, and the tape that answers it."""
    run = folder / "runs" / "live"
    run.parent.mkdir(parents=True, exist_ok=True)
    begin(run, rows(rounds))
    return run, played(rounds, seed)


@cache
def played(rounds: int = 2, seed: int = 5) -> Path:
    """The same run played to its end. It is made once, and only read."""
    folder = Path(tempfile.mkdtemp(prefix="moot-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    aside(lambda: play(begin(folder / "tape", rows(rounds)), Script(seed=seed)))
    return folder / "tape"


def aside(work: Callable[[], object]) -> None:
    """Do it in another thread: in this one the browser's driver has an event loop running."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(work).result()


@contextmanager
def running(run: Path, tape: Path, delay_seconds: float) -> Generator[subprocess.Popen[bytes]]:
    """The run goes on in a process of its own, which is ended with the block."""
    environment = {**os.environ, "MOOT_TAPE_DELAY_SECONDS": str(delay_seconds)}
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
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()
            process.wait(SECONDS)
