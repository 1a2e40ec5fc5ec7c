"""Results of calls, which `--json` prints: frozen structs, whose `model_dump()` equals that JSON.

A tuple is a list there. Nothing of a result is validated, because only moot creates one. That
leaves pydantic to what people and models write, and out of most verbs' start-up.
"""

from __future__ import annotations

from typing import Any, Self, TypeVar

import msgspec
import orjson

from ledger.plain_json import converted

S = TypeVar("S", bound=msgspec.Struct)


class Result(msgspec.Struct, frozen=True):
    """A result, or a part of one."""

    @classmethod
    def from_parts(cls, *sources: object, **fields: object) -> Self:
        """Return a result with `fields`, and else with what the first of `sources` has under a field's name.

        Nested results are taken from attributes in the same way, and tuples become lists.
        """
        for name in cls.__struct_fields__:
            if name not in fields:
                fields[name] = next(getattr(source, name) for source in sources if hasattr(source, name))
        encoded = dict(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))
        return converted({encoded[name]: value for name, value in fields.items()}, cls, from_attributes=True)

    def model_dump(self) -> dict[str, Any]:
        """Return the result as dictionaries and lists."""
        # `to_builtins` would keep tuples, which JSON does not have.
        dumped: dict[str, Any] = orjson.loads(msgspec.json.encode(self))
        return dumped

    def model_dump_json(self, *, indent: int | None = None) -> str:
        """Return the result as JSON: one line, or with `indent` spaces per level."""
        encoded = msgspec.json.encode(self)
        return (encoded if indent is None else msgspec.json.format(encoded, indent=indent)).decode()


def extended(kind: type[S], base: msgspec.Struct, **fields: Any) -> S:
    """Return a `kind` with all fields of `base`, which is of a class that `kind` extends, and with its own `fields`."""
    return kind(**{name: getattr(base, name) for name in base.__struct_fields__} | fields)
