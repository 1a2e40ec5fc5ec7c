"""What a process finds around it: the environment's settings, read in one place, and the present instant."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

GIT_SECONDS_MAX: Final = 2.0
ON: Final = frozenset({"1", "true", "yes", "on"})


class Settings(msgspec.Struct, frozen=True):
    """`runs`: where new runs go and run ids are looked up. `offline`: no seat may leave the machine."""

    runs: Path
    offline: bool
    colour: bool
    editor: str | None


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """MOOT_RUNS, MOOT_OFFLINE, NO_COLOR (any value but the empty one), VISUAL and EDITOR."""
    said = os.environ if environment is None else environment
    return Settings(
        runs=Path(said.get("MOOT_RUNS") or "runs"),
        offline=said.get("MOOT_OFFLINE", "").strip().lower() in ON,
        colour=not said.get("NO_COLOR") and said.get("TERM") != "dumb" and sys.stdout.isatty(),
        editor=said.get("VISUAL") or said.get("EDITOR") or None,
    )


def now() -> str:
    """The present instant, as a ledger writes it: `2026-03-04T05:06:07.000000Z`."""
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
