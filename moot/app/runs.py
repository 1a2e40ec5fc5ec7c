"""Runs by name: the one that a RUN argument means, what a new one is called, and the recorded examples.

Every seat sees the name of its run, and some must never see what is asked (a challenger sees the plan alone). So a name
that moot makes holds no word of the question: a date and four letters. Only a person's `--out` may.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Final

import moot
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot.environment import read_settings
from moot.errors import MootError

LAST: Final = "@last"
SHOWN: Final = 5
RUN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
LETTERS: Final = "bcdfghjkmnpqrstvwxz"
"""No vowels, so that no word comes out, and nothing that reads as a digit."""
LETTERS_DRAWN: Final = 4
_OLD_SLUG_CHARACTERS: Final = 48

Draw = Callable[[], str]


def find_run(said: str) -> Path:
    """The directory of a run. That it holds one is for the reader to see. Raises `MootError` with what there is."""
    runs = read_settings().runs
    if said == LAST:
        return _last(runs)
    for path in (Path(said), runs / said):
        if said and path.is_dir():
            return path
    if said and Path(said).exists():
        raise MootError("not_a_run", f"{said!r} is a file", said, "give the directory that holds it")
    raise MootError("not_a_run", f"no run {said!r}", str(runs), _near(said, runs))


def runs_under(runs: Path) -> list[Path]:
    """Directories with a ledger below `runs`, the last committed first."""
    heads = [head for pattern in ("*/head", "examples/*/head") for head in runs.glob(pattern)]
    return [
        head.parent for head in sorted(heads, key=lambda head: (-head.stat().st_mtime_ns, head.parent.name))
    ]


def _last(runs: Path) -> Path:
    found = [path for path in runs_under(runs) if path.parent == runs]
    if not found:
        raise MootError("not_a_run", "there is no last run", str(runs), "start one with `moot run`")
    return found[0]


def _near(said: str, runs: Path) -> str:
    from difflib import get_close_matches

    names = [str(path.relative_to(runs)) for path in runs_under(runs)]
    near = get_close_matches(said, names, 1, 0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return f"runs there: {', '.join(names[:SHOWN])}{more}"
    return "start one with `moot run`, or give a run's directory"


def drawn() -> str:
    """Letters that tell nothing, different for every run."""
    import secrets  # only a new run draws

    return "".join(secrets.choice(LETTERS) for _ in range(LETTERS_DRAWN))


def new_directory(runs: Path, today: date, draw: Draw = drawn) -> Path:
    """`runs/2026-03-04-kfmr`, which nothing is at."""
    while (path := runs / f"{today.isoformat()}-{draw()}").exists():
        pass
    return path


def fork_directory(
    runs: Path, parent: str, question: str, change: str, today: date, draw: Draw = drawn
) -> Path:
    """`storage.r7-without-critic` for a fork of `storage`, with a number behind it when that is taken.

    A parent whose name was made of its question passes that on to nobody: its forks have a name of their own.
    """
    plain = new_directory(runs, today, draw).name if _tells(parent, question) else parent
    base = runs / f"{plain}.{change}"
    number, path = 1, base
    while path.exists():
        number += 1
        path = base.with_name(f"{base.name}-{number}")
    return path


def _tells(name: str, question: str) -> bool:
    """Whether a name is one that moot made before names were without words: the date and the question's first words."""
    plain = unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if len(words) > _OLD_SLUG_CHARACTERS:
        words = words[:_OLD_SLUG_CHARACTERS].rpartition("-")[0] or words[:_OLD_SLUG_CHARACTERS]
    dated = re.match(r"\d{4}-\d\d-\d\d-", name)
    return dated is not None and bool(words) and name[dated.end() :].startswith(words)


INSTALLED_EXAMPLE: Final = "crux-balance"
"""The recorded run in the wheel: what `moot demo` plays."""


def example_directories() -> list[Path]:
    """Where examples are looked for: beside the runs in force, below here, below the checkout, in the package."""
    package = Path(moot.__file__).resolve().parent
    places = (read_settings().runs, Path("runs"), package.parent / "runs", package)
    return list(dict.fromkeys(place / "examples" for place in places))


def examples() -> list[Path]:
    """Return every example that can be read, finished or not. Of two with one name the nearer directory's is taken."""
    found: dict[str, Path] = {}
    for directory in example_directories():
        for head in sorted(directory.glob("*/head")):
            found.setdefault(head.parent.name, head.parent)
    return list(found.values())


def example(name: str) -> Path | None:
    """The example of a name; null when there is none."""
    return next((path for path in examples() if path.name == name), None)


def finished_examples() -> list[Path]:
    """Those that reached their end: the one that every installation brings along, then the shortest plan first."""
    ranked: list[tuple[bool, int, str, Path]] = []
    for path in examples():
        try:
            state = RunStore(path).book().state
        except LedgerError:
            continue  # `moot doctor` names it, and `moot verify` says what is wrong
        if state.finished and state.opened is not None and state.opened.origin.type in ("new", "converted"):
            ranked.append((path.name != INSTALLED_EXAMPLE, len(state.opened.plan), path.name, path))
    return [path for *_, path in sorted(ranked)]
