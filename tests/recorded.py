"""The recorded runs, for tests that read every one: the shortest run of each protocol is quick, the others are slow.

The long scripted runs are read beside them, slowly but for `tests/golden/test_long_run.py`. They have names here, so
that nothing is made while tests are collected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.long_run import FORK, NAME, long_fork, long_run

EXAMPLES: Final = Path(__file__).resolve().parents[1] / "runs" / "examples"
RUNS: Final = sorted(head.parent for head in EXAMPLES.glob("*/head"))
NAMES: Final = tuple(run.name for run in RUNS)
LONG: Final = {NAME: long_run, FORK: long_fork}
"""The long scripted runs: what makes each."""
STREAMS: Final = ("claims.jsonl", "verifications.jsonl", "decisions.jsonl")


def protocol_of(run: Path) -> str:
    """Return the protocol that a run was opened with."""
    with (run / "decisions.jsonl").open("rb") as lines:
        opening = re.search(rb'"protocol":"([a-z-]+)"', lines.readline())
    assert opening is not None, run
    return opening[1].decode()


def _one_per_protocol() -> frozenset[str]:
    """Return the names of the shortest run of each protocol."""
    names: dict[str, str] = {}
    for run in sorted(RUNS, key=lambda run: sum((run / name).stat().st_size for name in STREAMS)):
        names.setdefault(protocol_of(run), run.name)
    return frozenset(names.values())


ONE_PER_PROTOCOL: Final = _one_per_protocol()


def recorded(runs: Iterable[Path] = RUNS) -> list[Any]:
    """Return the runs as parameters of a test."""
    return [pytest.param(run, id=run.name, marks=_marks(run.name)) for run in runs]


def run_of(name: str) -> Path:
    """Return the directory of a recorded run, or of a long scripted one."""
    return LONG[name]() if name in LONG else EXAMPLES / name


def recorded_names(names: Iterable[str] = (*NAMES, *LONG)) -> list[Any]:
    """Return the names of runs, the long ones among them, as parameters of a test."""
    return [pytest.param(name, id=name, marks=_marks(name)) for name in names]


def _marks(name: str) -> tuple[pytest.MarkDecorator, ...]:
    return () if name in ONE_PER_PROTOCOL else (pytest.mark.slow,)
