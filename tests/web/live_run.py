"""A deliberation that another process runs: `moot run` on a tape, with a pause before every reply."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.rounds.openings import begin, play, rows
from tests.rounds.scripted import Script

SECONDS = 60


def prepared(folder: Path, rounds: int = 2, seed: int = 5) -> tuple[Path, Path]:
    """A run whose first step is open, and the tape that answers it."""
    tape, run = folder / "tape", folder / "runs" / "live"
    run.parent.mkdir(parents=True, exist_ok=True)
    aside(lambda: play(begin(tape, rows(rounds)), Script(seed=seed)))
    begin(run, rows(rounds))
    return run, tape


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
