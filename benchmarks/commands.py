"""Measure the cost of a verb as a process, relative to `python -c pass` and to importing pydantic and typer.

python -m benchmarks.commands                     a scripted run of 13 rounds, made for it
python -m benchmarks.commands --run RUN           another run
python -m benchmarks.commands --blobs 10          an open run with 10 MB of blobs beside the same without them

A turn runs every process once. The figures are medians over the turns: of processor time (user and system), which a
busy machine disturbs less than the clock; and of the ratios within each turn. Bytecode is cached, as it is from the
second start of an installed program on, in a directory of the benchmark's own, which a first turn fills that does not
count.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ledger.store.blobs import hash_of
from rounds.run.session import start
from rounds.run.verdicts import standard
from tests import long_run
from tests.rounds.openings import begin, clock, opening, play
from tests.rounds.scripted import Script

ROOT: Final = Path(__file__).resolve().parents[1]
TURNS: Final = 15
TARGET: Final = 2.6
FLOOR: Final = "python -c pass"
MEASURE: Final = "import pydantic, typer"
NEVER: Final = "anthropic"
SEED: Final = 3
"""A script with claims of every status; every seat answers."""
OPEN: Final = "r5.B.action"
"""The step that is open in the run with many blobs."""
BLOB_BYTES: Final = 2_048
BLOBS_TARGET: Final = 1.15


class Row(NamedTuple):
    """Figures of a process: processor time in ms, its ratios to both baselines, and its imported modules."""

    name: str
    cpu_ms: float
    of_floor: float
    of_measure: float
    modules: int
    with_sdk: bool


def processes(run: Path) -> dict[str, list[str]]:
    """Return name → arguments of the interpreter."""
    verbs = {verb: ["-m", "moot", verb, str(run)] for verb in ("status", "check", "signals")}
    return {
        FLOOR: ["-c", "pass"],
        MEASURE: ["-c", MEASURE],
        "moot --help": ["-m", "moot", "--help"],
        **{f"moot {verb}": arguments for verb, arguments in verbs.items()},
    }


def measured(run: Path, turns: int) -> list[Row]:
    """Return a row for every process, over `turns` turns."""
    named = processes(run)
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        imports = {name: _imports(arguments, environment) for name, arguments in named.items()}
        taken = [
            {name: _cpu_ms(arguments, environment) for name, arguments in named.items()} for _ in range(turns)
        ]
    return [
        Row(
            name,
            statistics.median(turn[name] for turn in taken),
            statistics.median(turn[name] / turn[FLOOR] for turn in taken),
            statistics.median(turn[name] / turn[MEASURE] for turn in taken),
            len(modules),
            any(module.partition(".")[0] == NEVER for module in modules),
        )
        for name, modules in imports.items()
    ]


def beside_blobs(directory: Path, megabytes: int, turns: int) -> dict[str, tuple[float, float]]:
    """Return verb → its processor time in ms beside that many blobs, and the ratio to the same run without them."""
    numbers = random.Random(SEED)
    contents = [
        numbers.randbytes(BLOB_BYTES // 2).hex().encode() for _ in range((megabytes << 20) // BLOB_BYTES)
    ]
    _open_run(directory / "without", [])
    reply = _open_run(directory / "with", contents)
    copy, answer = directory / "copy", directory / "reply.json"
    answer.write_bytes(reply)
    verbs = {
        "next": ["next", str(copy)],
        "submit": ["submit", str(copy), OPEN, str(answer)],
        "why": ["why", str(copy), "C-1-1"],
        "report": ["report", str(copy)],
    }
    taken: dict[str, list[dict[str, float]]] = {verb: [] for verb in verbs}
    for verb, arguments in verbs.items():
        for turn in range(turns + 1):
            times: dict[str, float] = {}
            for name in sorted(("with", "without"), reverse=turn % 2 == 0):
                shutil.copytree(directory / name, copy)
                times[name] = _cpu_ms(["-m", "moot", *arguments], os.environ)
                shutil.rmtree(copy)
            taken[verb].append(times)
    return {
        verb: (
            statistics.median(times["with"] for times in all_times[1:]),
            statistics.median(times["with"] / times["without"] for times in all_times[1:]),
        )
        for verb, all_times in taken.items()
    }


def _open_run(path: Path, contents: Sequence[bytes]) -> bytes:
    """Make a run whose step `OPEN` is open, with these blobs beside its own, and return the reply to that step."""
    event, blobs = opening("standard-13")
    more = {hash_of(content): content for content in contents}
    session = start(path, event, blobs={**blobs, **more}, files={}, verdicts=standard, clock=clock())
    script = Script(seed=SEED)
    long_run.play(session, script, OPEN)
    asked = session.pending()[0]
    return script.reply(session.book(), asked.step, asked.brief.saw)


def _cpu_ms(arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # `moot signals` exits with 1 when the run should go on.
    assert process.returncode in (0, 1), f"{arguments} ended with {process.returncode}"
    return (used.ru_utime + used.ru_stime) * 1_000


def _imports(arguments: Sequence[str], environment: Mapping[str, str]) -> frozenset[str]:
    """Return the modules that a process imports, as reported by the interpreter."""
    command = [sys.executable, "-X", "importtime", *arguments]
    report = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    ).stderr
    lines = (
        line.rpartition("|")[2].strip() for line in report.splitlines() if line.startswith("import time:")
    )
    return frozenset(lines) - {"imported package"}


def main(arguments: Sequence[str]) -> int:
    """Print a line for each process; return 1 when one misses the target or imports the SDK."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commands")
    parser.add_argument("--run", type=Path)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--blobs", type=int, metavar="MB")
    options = parser.parse_args(arguments)
    if options.blobs:
        with tempfile.TemporaryDirectory() as directory:
            figures = beside_blobs(Path(directory), options.blobs, options.turns)
        for verb, (cpu_ms, ratio) in figures.items():
            print(
                f"{verb:8} {cpu_ms:6.1f} ms  {ratio:5.2f} × without {options.blobs} MB, target {BLOBS_TARGET} at 10 MB"
            )
        return int(any(ratio > BLOBS_TARGET for _, ratio in figures.values()))
    with tempfile.TemporaryDirectory() as directory:
        run: Path = options.run or Path(directory) / "run"
        if options.run is None:
            play(begin(run, "standard-13"), Script(seed=SEED))
        rows = measured(run.resolve(), options.turns)
    print(f"{'process':24} {'cpu ms':>8} {'× pass':>8} {'× import':>9} {'modules':>8}")
    missed = False
    for row in rows:
        judged = row.name not in (FLOOR, MEASURE)
        wrong = judged and (row.of_measure > TARGET or row.with_sdk)
        missed |= wrong
        verdict = ("MISSED" if wrong else f"≤ {TARGET}") if judged else ""
        sdk = f"  imports {NEVER}" if row.with_sdk else ""
        print(
            f"{row.name:24} {row.cpu_ms:8.1f} {row.of_floor:8.2f} {row.of_measure:9.2f} {row.modules:8}  {verdict}{sdk}"
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
