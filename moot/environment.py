"""Settings from environment variables, read in one place, and the current time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Final

import msgspec

from moot.errors import usage

GIT_SECONDS_MAX: Final = 2.0
ASK_ABOVE_USD: Final = 5
ON: Final = frozenset({"1", "true", "yes", "on"})


class Settings(msgspec.Struct, frozen=True):
    """Settings. `runs`: directory of new runs and of run ids; `offline`: no seat may leave the machine."""

    runs: Path
    offline: bool
    colour: bool
    editor: str | None
    ask_above_usd: Decimal
    """Cost above which a run starts on a terminal only after a yes."""


def read_settings() -> Settings:
    """Read MOOT_RUNS, MOOT_OFFLINE, NO_COLOR (if not empty), VISUAL, EDITOR, MOOT_ASK_ABOVE_USD (default 5).

    Raises `MootError` for an amount that is not a number of dollars.
    """
    variables = os.environ
    return Settings(
        runs=Path(variables.get("MOOT_RUNS") or "runs"),
        offline=variables.get("MOOT_OFFLINE", "").strip().lower() in ON,
        colour=not variables.get("NO_COLOR") and variables.get("TERM") != "dumb" and sys.stdout.isatty(),
        editor=variables.get("VISUAL") or variables.get("EDITOR") or None,
        ask_above_usd=_amount(variables.get("MOOT_ASK_ABOVE_USD") or str(ASK_ABOVE_USD)),
    )


def _amount(text: str) -> Decimal:
    # `Decimal` alone accepts "NaN" and "1e9", which no comparison would stop.
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text):
        what = f"MOOT_ASK_ABOVE_USD={text!r} is no amount"
        raise usage(what, "give dollars, such as 5 or 0.50", "environment")
    return Decimal(text)


def configuration() -> Path:
    """Return the directory of a person's settings for all runs."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "moot"


def state_directory() -> Path:
    """Return the directory of what moot remembers between commands."""
    # State and not configuration: it may be lost, and must not be synced between machines.
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "moot"


FIXED: Final[ContextVar[str | None]] = ContextVar("FIXED", default=None)
"""Time that `now` returns while recordings are played, so that two such runs have the same head."""


def now() -> str:
    """Return the current time as a ledger writes it: `2026-03-04T05:06:07.000000Z`."""
    # Only studies that replay recordings set it: equal replies then give byte-identical ledgers.
    if (fixed := FIXED.get()) is not None:
        return fixed
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def git_identity() -> str | None:
    """Return git's `user.name` of this person or machine; None where git is missing or has no name.

    A repository's own configuration is not asked: in a stranger's clone it could name another person.
    """
    try:
        completed = subprocess.run(
            ["git", "config", "user.name"],
            # Outside of every repository.
            cwd="/",
            capture_output=True,
            text=True,
            # A git that waits for a network home directory must not hold an answer up.
            timeout=GIT_SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    name = completed.stdout.strip()
    # A ledger keeps no control characters, and a person without a name is better than a refused answer.
    return name if name and name.isprintable() else None
