"""Runs by name: what a RUN argument refers to, the names of new runs, and the recorded examples.

Every seat sees the name of its run, and some must never see the question (a challenger sees only the plan). So a
generated name holds no word of it: a date and four letters. Only a person's `--out` may.
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


def find_run(name: str) -> Path:
    """Return the directory of a run, whether or not it holds one. Raises `MootError` with the runs that exist."""
    runs = read_settings().runs
    if name == LAST:
        return _last(runs)
    for path in (Path(name), runs / name):
        if name and path.is_dir():
            return path
    if name and Path(name).exists():
        raise MootError("not_a_run", f"{name!r} is a file", name, "give the directory that holds it")
    raise MootError("not_a_run", f"no run {name!r}", str(runs), _near(name, runs))


def runs_under(runs: Path) -> list[Path]:
    """Return the directories with a ledger below `runs`, the last committed first."""
    # The head is replaced at every commit, so its time of change is that of the last commit.
    heads = [head for pattern in ("*/head", "examples/*/head") for head in runs.glob(pattern)]
    return [
        head.parent for head in sorted(heads, key=lambda head: (-head.stat().st_mtime_ns, head.parent.name))
    ]


def _last(runs: Path) -> Path:
    runs_here = [path for path in runs_under(runs) if path.parent == runs]
    if not runs_here:
        raise MootError("not_a_run", "there is no last run", str(runs), "start one with `moot run`")
    return runs_here[0]


def _near(name: str, runs: Path) -> str:
    from difflib import get_close_matches

    names = [str(path.relative_to(runs)) for path in runs_under(runs)]
    near = get_close_matches(name, names, 1, 0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return f"runs there: {', '.join(names[:SHOWN])}{more}"
    return "start one with `moot run`, or give a run's directory"


def drawn() -> str:
    """Return random letters, different for every run."""
    import secrets  # only a new run draws

    return "".join(secrets.choice(LETTERS) for _ in range(LETTERS_DRAWN))


def new_directory(runs: Path, today: date, draw: Draw = drawn) -> Path:
    """Return a free path such as `runs/2026-03-04-kfmr`."""
    while (path := runs / f"{today.isoformat()}-{draw()}").exists():
        pass
    return path


def fork_directory(
    runs: Path, parent: str, question: str, change: str, today: date, draw: Draw = drawn
) -> Path:
    """Return `storage.r7-without-critic` for a fork of `storage`, with a number appended when that is taken.

    If the parent's name was made from its question, its forks get a generated name instead.
    """
    plain = new_directory(runs, today, draw).name if _tells(parent, question) else parent
    base = runs / f"{plain}.{change}"
    number, path = 1, base
    while path.exists():
        number += 1
        path = base.with_name(f"{base.name}-{number}")
    return path


def _tells(name: str, question: str) -> bool:
    """Return whether an old version of moot made a name from the date and the question's first words."""
    # Repeats exactly how old versions made the name; any other rule would let words of a question through.
    plain = unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if len(words) > _OLD_SLUG_CHARACTERS:
        words = words[:_OLD_SLUG_CHARACTERS].rpartition("-")[0] or words[:_OLD_SLUG_CHARACTERS]
    dated = re.match(r"\d{4}-\d\d-\d\d-", name)
    return dated is not None and bool(words) and name[dated.end() :].startswith(words)


INSTALLED_EXAMPLE: Final = "crux-balance"
"""The recorded run in the wheel: what `moot demo` plays."""


def example_directories() -> list[Path]:
    """Return where examples are searched: the runs in force, `runs` here and in the checkout, the package."""
    package = Path(moot.__file__).resolve().parent
    places = (read_settings().runs, Path("runs"), package.parent / "runs", package)
    return list(dict.fromkeys(place / "examples" for place in places))


def examples() -> list[Path]:
    """Return every readable example, finished or not. Of two with one name, the nearer directory wins."""
    by_name: dict[str, Path] = {}
    for directory in example_directories():
        for head in sorted(directory.glob("*/head")):
            by_name.setdefault(head.parent.name, head.parent)
    return list(by_name.values())


def example(name: str) -> Path | None:
    """Return the example with a name; None when it does not exist."""
    return next((path for path in examples() if path.name == name), None)


def finished_examples() -> list[Path]:
    """Return the finished examples: the installed one first, then those with the shortest plan."""
    ranked: list[tuple[bool, int, str, Path]] = []
    for path in examples():
        try:
            state = RunStore(path).book().state
        except LedgerError:
            continue  # `moot doctor` names it, and `moot verify` says what is wrong
        if state.finished and state.opening.origin.type in ("new", "converted"):
            ranked.append((path.name != INSTALLED_EXAMPLE, len(state.opening.plan), path.name, path))
    return [path for *_, path in sorted(ranked)]
