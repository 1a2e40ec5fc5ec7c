"""Results of calls, which `--json` prints: frozen structs, whose `model_dump()` equals that JSON.

They hold lists, not tuples, for the same reason. Nothing of a result is validated, because only moot creates one.
That
leaves pydantic to what people and models write, and out of most verbs' start-up.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Result(msgspec.Struct, frozen=True):
    """A result, or a part of one."""

    def model_dump(self) -> dict[str, Any]:
        """Return the result as dictionaries and lists."""
        dumped: dict[str, Any] = msgspec.to_builtins(self)
        return dumped

    def model_dump_json(self, *, indent: int | None = None) -> str:
        """Return the result as JSON: one line, or with `indent` spaces per level."""
        encoded = msgspec.json.encode(self)
        return (encoded if indent is None else msgspec.json.format(encoded, indent=indent)).decode()
