"""Measure the cost of an audit relative to `orjson.loads` of the same lines, and the memory of a long ledger.

python -m benchmarks.ledger                       100,000 events: ratios of time
python -m benchmarks.ledger --memory 1000000      peak memory of verify and of the fold, each in its own process
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import orjson

from benchmarks.workload import write_run
from ledger.audit.verify import verify
from ledger.store.reading import LogPosition, follow
from ledger.store.store import RunStore

EVENTS: Final = 100_000
REPETITIONS: Final = 7
TARGETS: Final = {"chain": 1.0, "audit": 4.0}
MEMORY_MB_MAX: Final = 500


def chain(run: RunStore) -> None:
    """Follow the chain from the first line to the head."""
    for _ in follow(run.path, LogPosition(), run.head()):
        pass


def audit(run: RunStore) -> None:
    """Check chain, canonical bytes and schema, and fold the state."""
    run.state()


def loads(lines: list[bytes]) -> None:
    """Parse every line into Python objects and check nothing; the baseline."""
    for line in lines:
        orjson.loads(line)


def ratios(events: int) -> dict[str, tuple[float, float]]:
    """Return name → median processor seconds, and median of the ratios to `orjson.loads` within each turn."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run"
        write_run(path, events)
        run = RunStore(path)
        lines = [line for _, _, line in run.lines()]
        work: dict[str, Callable[[], None]] = {
            "loads": lambda: loads(lines),
            "chain": lambda: chain(run),
            "audit": lambda: audit(run),
        }
        turns = [{name: _seconds(act) for name, act in work.items()} for _ in range(REPETITIONS)]
    return {
        name: (
            statistics.median(turn[name] for turn in turns),
            statistics.median(turn[name] / turn["loads"] for turn in turns),
        )
        for name in work
    }


def _seconds(act: Callable[[], None]) -> float:
    # Processor time is disturbed less by a busy machine than the clock is.
    start = time.process_time()
    act()
    return time.process_time() - start


def memory(events: int) -> dict[str, int]:
    """Return the peak resident megabytes of a bare start, of verifying and of folding a ledger of `events` events."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run"
        write_run(path, events)
        return {name: _peak_mb(name, path) for name in ("start", "verify", "fold")}


def _peak_mb(name: str, path: Path) -> int:
    command = [sys.executable, "-m", "benchmarks.ledger", "--alone", name, str(path)]
    return int(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


def alone(name: str, path: Path) -> int:
    """Do one task in this process and return its peak memory in megabytes."""
    match name:
        case "verify":
            report = verify(path)
            assert all(
                "prompt set" in problem.what or "missing" in problem.what for problem in report.problems
            ), report.problems[0]
        case "fold":
            assert RunStore(path).state().seq > 0
        case _:
            assert name == "start", name
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(arguments: list[str]) -> int:
    """Print a line for each measurement; return 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger")
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--memory", type=int, metavar="EVENTS")
    parser.add_argument("--alone", nargs=2, metavar=("WHAT", "RUN"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.alone:
        print(alone(options.alone[0], Path(options.alone[1])))
        return 0
    missed = False
    if options.memory:
        for name, peak in memory(options.memory).items():
            missed |= peak > MEMORY_MB_MAX
            print(f"{name:8} {peak:6} MB   at {options.memory} events, target {MEMORY_MB_MAX} MB")
        return int(missed)
    for name, (seconds, ratio) in ratios(options.events).items():
        target = TARGETS.get(name)
        missed |= target is not None and ratio > target
        against = "the measure" if target is None else f"target {target:.1f}"
        print(
            f"{name:8} {seconds / options.events * 1e6:6.2f} µs an event  {ratio:5.2f} × orjson.loads  {against}"
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
