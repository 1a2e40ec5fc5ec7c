"""What a process finds around it: the environment's settings, read in one place, and the present instant."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
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
    """`runs`: where new runs go and run ids are looked up. `offline`: no seat may leave the machine."""

    runs: Path
    offline: bool
    colour: bool
    editor: str | None
    ask_above_usd: Decimal
    """A run that may cost more is begun on a terminal only after a yes."""


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """MOOT_RUNS, MOOT_OFFLINE, NO_COLOR (any value but the empty one), VISUAL, EDITOR, MOOT_ASK_ABOVE_USD (5).

    Raises `MootError` for an amount that is none.
    """
    said = os.environ if environment is None else environment
    return Settings(
        runs=Path(said.get("MOOT_RUNS") or "runs"),
        offline=said.get("MOOT_OFFLINE", "").strip().lower() in ON,
        colour=not said.get("NO_COLOR") and said.get("TERM") != "dumb" and sys.stdout.isatty(),
        editor=said.get("VISUAL") or said.get("EDITOR") or None,
        ask_above_usd=_amount(said.get("MOOT_ASK_ABOVE_USD") or str(ASK_ABOVE_USD)),
    )


def _amount(said: str) -> Decimal:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", said):
        what = f"MOOT_ASK_ABOVE_USD={said!r} is no amount"
        raise usage(what, "give dollars, such as 5 or 0.50", "environment")
    return Decimal(said)


def configuration() -> Path:
    """The directory of what a person sets for all runs."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "moot"


def state_directory() -> Path:
    """Return the directory of what moot remembers between commands."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "moot"


FIXED: Final[ContextVar[str | None]] = ContextVar("FIXED", default=None)
"""The instant that `now` gives while recordings are played: two such runs have the same head."""


def now() -> str:
    """The present instant, as a ledger writes it: `2026-03-04T05:06:07.000000Z`."""
    if (fixed := FIXED.get()) is not None:
        return fixed
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def git_identity() -> str | None:
    """The name that git would sign with here; None where there is no git, or it knows none."""
    try:
        said = subprocess.run(
            ["git", "config", "user.name"],
            capture_output=True,
            text=True,
            timeout=GIT_SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    name = said.stdout.strip()
    return name if name and name.isprintable() else None
