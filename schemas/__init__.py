"""Schemas: the published shape of every event, of every reply, and of every JSON output (draft 2020-12).

load("events/claim")      what a line of that kind is
load("replies/CheckReply")  what a seat returns for a check
load("output/verify")     what a verb prints with --json
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

DIRECTORY: Final = Path(__file__).parent


def load(name: str) -> dict[str, Any]:
    """A published schema by its path here, without `.json`. Raises `FileNotFoundError`."""
    return cast("dict[str, Any]", json.loads((DIRECTORY / f"{name}.json").read_bytes()))


def text_of(schema: Mapping[str, Any]) -> bytes:
    """The file of a schema: indented, so that a change shows in the diff."""
    return json.dumps(schema, ensure_ascii=False, indent=2).encode() + b"\n"
