"""How long `moot query` takes over many runs: the first question, which reads them all, then the five of docs/query.md.

python -m benchmarks corpus                         10,000 runs of 100 events
python -m benchmarks corpus --runs 1000 --events 40

The runs are invented (`benchmarks.workload`), each with a seed of its own; every question is a whole process with a
cache of its own, timed by the clock and by processor time. The target is ten seconds for the five together.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from benchmarks.workload import write_run

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "query.md"
TARGET_SECONDS: Final = 10.0


def questions() -> list[str]:
    """The five questions of the page."""
    text = PAGE.read_text("utf-8").partition("## Five questions")[2]
    return re.findall(r'^moot query "(SELECT .*)"$', text, re.MULTILINE)


def _write(job: tuple[str, int, int]) -> None:
    folder, number, events = job
    write_run(Path(folder) / f"run-{number:06}", events, seed=number + 1)


def asked(sql: str, runs: Path, environment: Mapping[str, str]) -> tuple[float, float]:
    """Seconds by the clock, and of processor time, of one question."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "moot", "query", sql, "--runs", str(runs), "--quiet"]
    subprocess.run(command, env=dict(environment), check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, used


def main(options: Sequence[str] = ()) -> int:
    """Print the table; 1 when the five questions together take longer than the target."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks corpus")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=100)
    said = parser.parse_args(options)
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder) / "runs"
        runs.mkdir()
        with get_context("spawn").Pool() as pool:
            pool.map(_write, [(str(runs), n, said.events) for n in range(said.runs)], chunksize=20)
        environment = {**os.environ, "XDG_CACHE_HOME": str(Path(folder) / "cache")}
        wall, used = asked("SELECT count(*) FROM runs", runs, environment)
        print(f"{said.runs:,} runs of {said.events} events; the first question, which reads them: ", end="")
        print(f"{wall:.1f} s, {used:.1f} s of processor time", flush=True)
        total = 0.0
        for sql in questions():
            wall, used = asked(sql, runs, environment)
            total += wall
            print(f"{wall:6.2f} s  {used:6.2f} s of processor time  {sql[:80]}", flush=True)
    print(f"{total:6.2f} s in all, target {TARGET_SECONDS:g}")
    return int(total > TARGET_SECONDS)
