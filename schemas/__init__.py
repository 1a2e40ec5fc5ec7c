"""Schemas: the published shape of every event, of every reply, and of every JSON output (draft 2020-12).

load("events/claim")      a line of that kind
load("replies/CheckReply")  the reply of a seat to a check
load("output/verify")     the output of a verb with --json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

DIRECTORY: Final = Path(__file__).parent


def load(name: str) -> dict[str, Any]:
    """Return a published schema by its path here, without `.json`. Raises `FileNotFoundError`."""
    return cast("dict[str, Any]", json.loads((DIRECTORY / f"{name}.json").read_bytes()))


def text_of(schema: Mapping[str, Any]) -> bytes:
    """Return the file of a schema: indented, so that a change shows in the diff."""
    return json.dumps(schema, ensure_ascii=False, indent=2).encode() + b"\n"


def main(arguments: Sequence[str], module: str, wanted: Mapping[str, bytes]) -> int:
    """Write schemas, by their path here, or with --check report those that differ from the files, as `module` does."""
    files = {DIRECTORY / name: content for name, content in wanted.items()}
    if "--check" not in arguments:
        for path, content in files.items():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return 0
    present = {path for folder in {path.parent for path in files} for path in folder.glob("*.json")}
    stale = sorted(
        f"schemas/{path.relative_to(DIRECTORY)}"
        for path in present | files.keys()
        if path not in present or path.read_bytes() != files.get(path)
    )
    if stale:
        print(f"not what the types say: {', '.join(stale)}; run python -m {module} --write", file=sys.stderr)
    return 1 if stale else 0
