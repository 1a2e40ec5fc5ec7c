"""The published schema of every event kind, made from its type and its laws (draft 2020-12).

A document is valid exactly when `canonical.decode` accepts it in its canonical bytes, with two exceptions that
no JSON Schema can say: a number written 1.0 is an integer to a schema and refused in a line, and a line is at most
1 MiB long. Fields that are not known are allowed, in the same profile: no fractions, bounded integers, clean text.

    python -m ledger.format.schema --check      # do the published files say the same?
    python -m ledger.format.schema --write      # publish
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import cast

import schemas
from ledger.events import KINDS
from ledger.events.ids import ID_PATTERNS
from ledger.format.schema_laws import laws_of
from ledger.format.schema_parts import Parts, Schema, first_line


def event_schema(kind: str) -> Schema:
    """The schema of one kind, self-contained."""
    event_type, stream = KINDS[kind]
    parts = Parts({})
    schema = parts.described(event_type, 1)
    properties = cast("dict[str, Schema]", schema["properties"])
    properties["id"] = _identity(kind)
    properties["kind"] = {"const": kind}
    properties["v"] = {"const": 1}
    if kind == "artifact":
        properties["body"] = {"type": "object"}
    laws = laws_of(kind, parts)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:moot:format:1:event:{kind}",
        "title": kind,
        "description": f"{first_line(event_type)} Stream: {stream}.",
        **schema,
        "allOf": laws,
        "$defs": dict(sorted(parts.definitions.items())),
    }


def _identity(kind: str) -> Schema:
    pattern = ID_PATTERNS.get(kind)
    return {"type": "string", "maxLength": 200, "pattern": pattern} if pattern else {"type": "null"}


def published() -> Mapping[str, bytes]:
    """File name below `schemas/` → what it must hold."""
    return {f"events/{kind}.json": schemas.text_of(event_schema(kind)) for kind in KINDS}


def main(arguments: list[str]) -> int:
    """`--write` or `--check`; 1 when published files differ."""
    if arguments == ["--write"]:
        for name, content in published().items():
            path = schemas.DIRECTORY / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return 0
    if arguments != ["--check"]:
        print("usage: python -m ledger.format.schema --check | --write", file=sys.stderr)
        return 2
    differing = [
        name
        for name, content in published().items()
        if not (path := schemas.DIRECTORY / name).is_file() or path.read_bytes() != content
    ]
    for name in differing:
        print(
            f"schemas/{name} is not what the types say: run python -m ledger.format.schema --write",
            file=sys.stderr,
        )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
