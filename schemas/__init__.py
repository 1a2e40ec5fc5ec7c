"""Schemas: the published shape of every event, of every reply, and of every JSON output (draft 2020-12).

load("events/claim")      a line of that kind
load("replies/CheckReply")  the reply of a seat to a check
load("output/verify")     the output of a verb with --json
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

DIRECTORY: Final = Path(__file__).parent


def load(name: str) -> dict[str, Any]:
    """Return a published schema by its path here, without `.json`. Raises `FileNotFoundError`."""
    return cast("dict[str, Any]", json.loads((DIRECTORY / f"{name}.json").read_bytes()))


def text_of(schema: Mapping[str, Any]) -> bytes:
    """Return the file of a schema: indented, so that a change shows in the diff."""
    return json.dumps(schema, ensure_ascii=False, indent=2).encode() + b"\n"
