"""The recorded deliberations that a checkout brings along; an installed moot has none."""

from __future__ import annotations

from pathlib import Path

import moot
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot.app.settings import read_settings


def example_directories() -> list[Path]:
    """Where examples are looked for: beside the runs in force, below here, below the checkout."""
    checkout = Path(moot.__file__).resolve().parent.parent
    places = (read_settings().runs, Path("runs"), checkout / "runs")
    return list(dict.fromkeys(place / "examples" for place in places))


def examples() -> list[Path]:
    """Every example that can be read, finished or not, by name; each once."""
    found: dict[Path, Path] = {}
    for directory in example_directories():
        for head in sorted(directory.glob("*/head")):
            found.setdefault(head.parent.resolve(), head.parent)
    return list(found.values())


def finished_examples() -> list[Path]:
    """Those that reached their end, the longest plan first."""
    ranked: list[tuple[int, str, Path]] = []
    for path in examples():
        try:
            state = RunStore(path).book().state
        except LedgerError:
            continue  # `moot doctor` names it, and `moot verify` says what is wrong
        if state.finished and state.opened is not None and state.opened.origin.type == "new":
            ranked.append((-len(state.opened.plan), path.name, path))
    return [path for _, _, path in sorted(ranked)]
