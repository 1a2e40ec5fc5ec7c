"""Measure the cost of a durable event relative to SQLite, which inserts the same line in WAL mode with full sync.

python -m benchmarks.commits                      processor time per event, in one run, as a ratio

moot takes the lock and opens its files for every event, as a driver does between replies; SQLite keeps its connection.
The comparison is in processor time (user and system), which a busy machine disturbs less than the clock.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.workload import drafts
from ledger.events import Event, RunOpened
from ledger.format.canonical import encode
from ledger.store.store import RunStore, create_run

EVENTS: Final = 200
TURNS: Final = 7
RATIO_MAX: Final = 3.0
AT: Final = "2026-03-01T00:00:00.000000Z"


def moot(run: RunStore, events: list[Event]) -> None:
    """Commit every event by itself."""
    for event in events:
        with run.writer() as writer:
            writer.commit([event], at=AT)


def sqlite(path: Path, lines: list[bytes]) -> None:
    """Insert every line by itself, durably."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, line BLOB)")
    for line in lines:
        connection.execute("INSERT INTO events (line) VALUES (?)", (line,))
    connection.close()


def _seconds(act: Callable[[], None]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def turn(place: Path, number: int) -> tuple[float, float]:
    """Return the processor seconds per event of moot and of SQLite, taken one after the other."""
    events = list(drafts(EVENTS + 1, seed=number))
    opening, *others = events
    assert isinstance(opening, RunOpened)
    lines = [encode(event) for event in others]
    run = create_run(place / f"run-{number}", opening, blobs={}, at=AT)
    ours = _seconds(lambda: moot(run, others))
    theirs = _seconds(lambda: sqlite(place / f"{number}.sqlite", lines))
    return ours / len(others), theirs / len(others)


def main(arguments: list[str]) -> int:
    """Print the costs and their ratio; return 1 when the target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commits")
    parser.add_argument("--on", type=Path, default=Path.cwd(), help="a directory on the disk to measure")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.on) as place:
        turns = [turn(Path(place), number) for number in range(1, TURNS + 1)]
    ratio = statistics.median(ours / theirs for ours, theirs in turns)
    ours, theirs = (statistics.median(side) * 1e6 for side in zip(*turns, strict=True))
    print(
        f"a durable event: moot {ours:.0f} µs, sqlite {theirs:.0f} µs, ratio {ratio:.2f}, target {RATIO_MAX}"
    )
    return int(ratio > RATIO_MAX)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    sys.exit(main(sys.argv[1:]))
