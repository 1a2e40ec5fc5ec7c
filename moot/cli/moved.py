"""Verbs and options of release 0.1 that went elsewhere. An old word gives a usage error that names the new command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VERBS: Final[Mapping[str, str]] = {
    "accept": "moot outcome RUN accepted",
    "beliefs": "moot signals RUN",
    "calibrate": "moot signals RUN --params FILE",
    "completion": "moot --install-completion",
    "estimate": "moot run FILE --dry-run",
    "install-skill": "moot mcp --install-skill DIR",
    "keygen": "moot seal --new-key FILE",
    "protocols": "moot gate",
    "query": "moot list --json",
    "stress": "moot fork RUN --stress",
    "value": "moot study value RUNS",
}
"""Removed verb → the command that replaces it."""

SETTING_VERBS: Final = ("run", "new", "review")
OPTIONS: Final[Mapping[str, str]] = {
    "--allow-unknown-cost": "--yes",
    "--cast": "--rule cast=NAME",
    "--check-every": "--rule check-every=N",
    "--compete": "a file with [gate] compete = true, or name a --protocol",
    "--context-bytes": "--rule context-bytes=N",
    "--domain": "--rule domain=TEXT",
    "--judges": "--rule judges=N",
    "--name": "--out runs/NAME",
    "--offline": "MOOT_OFFLINE=1 in the environment",
    "--no-stress": "--rule stress=off",
    "--params": "--rule params=FILE",
    "--prices": "MOOT_PRICES=FILE, or prices.toml in ~/.config/moot",
    "--profile": "--rule profile=NAME",
    "--rounds": "--rule rounds=N",
    "--rubric": "--rule rubric=NAME",
    "--rules": "--rule voting=NAME",
    "--seed": "--rule seed=N",
}
"""Removed option of the verbs that set up a run → what replaces it."""
