"""What a run is called: a date and four letters, unless a person gives a name.

Every seat sees the name of its run, and some must never see what is asked (a challenger sees the plan alone). So a name
that moot makes holds no word of the question; only a person's `--name` or `--out` may. Runs that have a name keep it.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Final

from moot.errors import usage

RUN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
LETTERS: Final = "bcdfghjkmnpqrstvwxz"
"""No vowels, so that no word comes out, and nothing that reads as a digit."""
LETTERS_DRAWN: Final = 4
_OLD_SLUG_CHARACTERS: Final = 48

Draw = Callable[[], str]


def drawn() -> str:
    """Letters that tell nothing, different for every run."""
    return "".join(secrets.choice(LETTERS) for _ in range(LETTERS_DRAWN))


def new_directory(runs: Path, today: date, draw: Draw = drawn) -> Path:
    """`runs/2026-03-04-kfmr`, which nothing is at."""
    while (path := runs / f"{today.isoformat()}-{draw()}").exists():
        pass
    return path


def named_directory(runs: Path, name: str) -> Path:
    """The place of a run that a person named. Raises `MootError` when it is no name."""
    if not RUN_NAME.fullmatch(name):
        raise usage(f"{name!r} is no name for a run", "use letters, digits, . _ and -", "--name")
    return runs / name


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
