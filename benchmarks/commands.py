"""Measure the cost of a verb as a process, relative to `python -c pass` and to importing pydantic and typer.

python -m benchmarks.commands                     a scripted run of 13 rounds, made for it
python -m benchmarks.commands --run RUN           another run

A turn runs every process once. The figures are medians over the turns: of processor time (user and system), which a
busy machine disturbs less than the clock; and of the ratios within each turn. Bytecode is cached, as it is from the
second start of an installed program on, in a directory of the benchmark's own, which a first turn fills that does not
count.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.rounds.openings import begin, play
from tests.rounds.scripted import Script

ROOT: Final = Path(__file__).resolve().parents[1]
TURNS: Final = 15
TARGET: Final = 2.6
FLOOR: Final = "python -c pass"
MEASURE: Final = "import pydantic, typer"
NEVER: Final = "anthropic"
SEED: Final = 3
"""A script with claims of every status; every seat answers."""


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
    options = parser.parse_args(arguments)
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
