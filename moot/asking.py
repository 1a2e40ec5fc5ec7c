"""Asking the person at this terminal for a reply: in $EDITOR if it is set, else line by line."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, cast

from moot.settings import read_settings
from moot.terminal import err
from roles.seats.port import Request

END: Final = "."
GIVE_UP: Final = "/give-up"
ONE_AT_A_TIME: Final = asyncio.Lock()


async def ask(request: Request) -> bytes | None:
    """Show the brief and take the reply; None when the person gives the step up. One question at a time."""
    async with ONE_AT_A_TIME:
        return await asyncio.to_thread(_ask, request)


def _ask(request: Request) -> bytes | None:
    brief = request.brief
    shown = brief.text if request.attempt == 1 else brief.blocks[-1].text
    err(f"\n{'─' * 78}\n{request.step.id}\n{'─' * 78}\n{shown.rstrip()}\n\n")
    editor = read_settings().editor
    if editor is not None and sys.stdin.isatty():
        return _edited(editor, skeleton(brief.schema))
    err(f"The reply is one JSON object with this schema:\n{json.dumps(brief.schema, ensure_ascii=False)}\n\n")
    err(f"Write it here and end with a line that holds only {END!r}; {GIVE_UP} gives the step up.\n")
    return _typed()


def _typed() -> bytes | None:
    lines: list[str] = []
    for line in sys.stdin:
        said = line.strip()
        if said == GIVE_UP:
            return None
        if said == END:
            return "".join(lines).encode()
        lines.append(line)
    return "".join(lines).encode() if lines else None


def _edited(editor: str, start: Any) -> bytes | None:
    """The reply as it was left in the editor; an empty file gives the step up."""
    with tempfile.TemporaryDirectory(prefix="moot-") as directory:
        path = Path(directory) / "reply.json"
        path.write_text(json.dumps(start, ensure_ascii=False, indent=2) + "\n", "utf-8")
        err("Your editor opens with the reply's outline; an empty file gives the step up.\n")
        subprocess.run([*shlex.split(editor), str(path)], check=False)  # the person's own choice of program
        content = path.read_bytes()
    return content if content.strip() else None


def skeleton(schema: Any) -> Any:
    """An outline that a person can fill in: every required field, enums with their first value."""
    return _outline(schema, cast("dict[str, Any]", schema).get("$defs", {}))


def _outline(schema: dict[str, Any], shared: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _outline(shared[str(schema["$ref"]).rpartition("/")[2]], shared)
    if "enum" in schema:
        return schema["enum"][0]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return _outline(schema[union][0], shared)
    match schema.get("type"):
        case "object":
            return {key: _outline(value, shared) for key, value in schema.get("properties", {}).items()}
        case "array":
            count = int(schema.get("minItems", 0))
            fixed: list[Any] = schema.get("prefixItems", [])
            rest = [schema["items"]] * (count - len(fixed)) if isinstance(schema.get("items"), dict) else []
            return [_outline(one, shared) for one in [*fixed, *rest]]
        case "integer":
            return int(schema.get("minimum", 0))
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return ""
