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
from roles.seats.port import Request, SeatWaits

END: Final = "."
GIVE_UP: Final = "/give-up"
ONE_AT_A_TIME: Final = asyncio.Lock()


async def ask(request: Request) -> bytes | None:
    """Show the brief and take the reply; None when the person gives the step up. One question at a time.

    Raises `SeatWaits` when nobody is there any more: the step stays open, and the run can go on later.
    """
    async with ONE_AT_A_TIME:
        return await asyncio.to_thread(_ask, request)


def _ask(request: Request) -> bytes | None:
    brief = request.brief
    shown = brief.text if request.attempt == 1 else brief.blocks[-1].text
    err(f"\n{'─' * 78}\n{request.step.id}\n{'─' * 78}\n{shown.rstrip()}\n\n")
    editor = read_settings().editor
    if editor is not None and sys.stdin.isatty():
        said = _edited(editor, skeleton(brief.schema))
    else:
        said = _typed(brief.schema)
    if not said.strip():
        raise SeatWaits(request.step.id)
    return None if said.strip() == GIVE_UP else said.encode("utf-8", "surrogateescape")


def _typed(schema: Any) -> str:
    """Lines of stdin up to one that holds only END; a lone GIVE_UP needs no END. Empty when stdin has ended."""
    err(f"The reply is one JSON object with this schema:\n{json.dumps(schema, ensure_ascii=False)}\n\n")
    err(f"Write it here and end with a line that holds only {END!r}; {GIVE_UP} gives the step up.\n")
    lines: list[str] = []
    for line in sys.stdin:
        if line.strip() == END:
            break
        lines.append(line)
        if line.strip() == GIVE_UP:
            return GIVE_UP
    return "".join(lines)


def _edited(editor: str, start: Any) -> str:
    """The reply as it was left in the editor."""
    with tempfile.TemporaryDirectory(prefix="moot-") as directory:
        path = Path(directory) / "reply.json"
        path.write_text(json.dumps(start, ensure_ascii=False, indent=2) + "\n", "utf-8")
        err(
            f"Your editor opens with an outline. An empty file leaves the step open; {GIVE_UP} alone gives it up.\n"
        )
        subprocess.run([*shlex.split(editor), str(path)], check=False)  # the person's own choice of program
        return path.read_text("utf-8", "surrogateescape")


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
