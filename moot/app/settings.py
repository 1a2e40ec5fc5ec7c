"""What the environment says, read in one place."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

ON = frozenset({"1", "true", "yes", "on"})


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
