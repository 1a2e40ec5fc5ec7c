"""Verbs and options of release 0.1 that went elsewhere. An old word gives a usage error that names the new command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VERBS: Final[Mapping[str, str]] = {
    "accept": "moot outcome RUN accepted",
    "beliefs": "moot signals RUN",
    "completion": "moot --install-completion",
    "estimate": "moot run FILE --dry-run",
    "install-skill": "moot mcp --install-skill DIR",
    "keygen": "moot seal --new-key FILE",
    "protocols": "moot gate",
    "stress": "moot fork RUN --stress",
    "value": "moot study value RUNS",
}
"""Removed verb → the command that replaces it."""
