"""Published schemas of all event kinds, made from their types and laws (draft 2020-12).

A document is valid exactly when `canonical.decode` accepts it in its canonical bytes, with three exceptions that
no JSON Schema can say: a number written 1.0 is an integer to a schema and refused in a line, a line is at most
1 MiB long, and the points of a belief sum to 100. Fields that are not known are allowed, in the same profile: no
fractions, bounded integers, clean text.

    python -m ledger.format.schema --check      # do the published files say the same?
    python -m ledger.format.schema --write      # publish
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from inspect import getsource as source_of
from typing import Any, Final, cast

import msgspec
from msgspec import inspect

import schemas
from ledger.events import KINDS
from ledger.events.artifacts import BODIES
from ledger.events.envelope import DEPTH_MAX, FORMAT, SAFE_INTEGER
from ledger.events.ids import id_pattern
from ledger.events.kinds import Length, Paired, Total

Schema = dict[str, Any]

CLEAN: Final = r"^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*$(?!\n)"
"""Text without control characters other than tab and line feed."""
END: Final = r"$(?!\n)"
"""How the forms end that say the whole string. Others say its beginning only."""
IMPORTED: Final[Schema] = {"properties": {"by": {"const": "import"}}}
NULL: Final[Schema] = {"type": "null"}


def event_schema(kind: str) -> Schema:
    """Return the schema of one kind, self-contained."""
    row = KINDS[kind]
    parts = Parts({})
    schema = _lines(kind, parts)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:moot:format:{FORMAT}:event:{kind}",
        "title": kind,
        "description": f"{first_line(row.model)} Stream: {row.stream}.",
        **schema,
        "$defs": dict(sorted(parts.definitions.items())),
    }


def _lines(kind: str, parts: Parts) -> Schema:
    schema = parts.described(KINDS[kind].model, 1)
    properties = cast("dict[str, Schema]", schema["properties"])
    properties["id"] = _identity(kind)
    properties["kind"] = {"const": kind}
    properties["v"] = {"const": FORMAT}
    if kind == "artifact":
        properties["body"] = {"type": "object"}
    return schema | {"allOf": laws_of(kind, parts)}


def _identity(kind: str) -> Schema:
    pattern = id_pattern(kind)
    return {"type": "string", "maxLength": 200, "pattern": pattern} if pattern else {"type": "null"}


def published() -> Mapping[str, bytes]:
    """Return file name below `schemas/` → the bytes it must hold."""
    return {f"events/{kind}.json": schemas.text_of(event_schema(kind)) for kind in KINDS}


# The types.


_FIELD: Final = re.compile(r"^    (\w+): [^#]*(?:#(?: (.*))?)?$")


@cache
def meanings(struct: type[msgspec.Struct]) -> Mapping[str, str]:
    """Return field → the comment beside or above its declaration; fields of bases come first."""
    comments: dict[str, str] = {}
    for declared in reversed(struct.__mro__):
        if not (issubclass(declared, msgspec.Struct) and declared.__module__.startswith("ledger.")):
            continue
        above = ""
        for line in source_of(declared).split("\n")[1:]:
            field = _FIELD.match(line)
            if field and (field[2] or above):
                comments[field[1]] = field[2] or above
            above = line.strip().removeprefix("# ") if line.startswith("    # ") else ""
    return comments


def first_line(type_: type) -> str:
    """Return the first line of a type's docstring."""
    return (type_.__doc__ or "").strip().split("\n")[0]


@dataclass(frozen=True, slots=True)
class Parts:
    """The `$defs` of one schema. A part has its depth in its name: what unknown fields may hold depends on it."""

    definitions: dict[str, Schema]

    def described(self, struct: type[msgspec.Struct], depth: int) -> Schema:
        """Return the schema of an object at that depth: every known field is required, unknown ones are bounded."""
        info = inspect.type_info(struct)
        assert isinstance(info, inspect.StructType), struct
        schema: Schema = {
            "type": "object",
            "properties": {
                field.encode_name: self._field(struct, field.name, self.value(field.type, depth + 1))
                for field in info.fields
            },
            "required": [field.encode_name for field in info.fields],
        }
        if info.forbid_unknown_fields:
            return schema | {"additionalProperties": False}
        return schema | {
            "propertyNames": {"pattern": CLEAN},
            "additionalProperties": self.anything(DEPTH_MAX - depth),
        }

    @staticmethod
    def _field(struct: type[msgspec.Struct], name: str, schema: Schema) -> Schema:
        description = meanings(struct).get(name)
        return schema | {"description": description} if description else schema

    def part(self, struct: type[msgspec.Struct], depth: int) -> Schema:
        """Return a reference to the description of `struct` at that depth."""
        # Unknown fields may nest to a limit that counts from the line, so one struct at two depths needs two
        # definitions.
        name = f"{struct.__name__}-{depth}"
        if name not in self.definitions:
            self.definitions[name] = {"description": first_line(struct), **self.described(struct, depth)}
        return {"$ref": f"#/$defs/{name}"}

    def anything(self, left: int) -> Schema:
        """Return a reference to any value with at most `left` containers inside one another."""
        name = f"anything-{left}"
        if name not in self.definitions:
            scalars: Schema = {
                "type": ["null", "boolean", "integer", "string"],
                "minimum": -SAFE_INTEGER,
                "maximum": SAFE_INTEGER,
                "pattern": CLEAN,
            }
            containers = (
                {
                    "type": ["null", "boolean", "integer", "string", "array", "object"],
                    "items": self.anything(left - 1),
                    "propertyNames": {"pattern": CLEAN},
                    "additionalProperties": self.anything(left - 1),
                }
                if left
                else {}
            )
            self.definitions[name] = scalars | containers
        return {"$ref": f"#/$defs/{name}"}

    def value(self, type_: inspect.Type, depth: int) -> Schema:
        """Return the schema of a field or item; `depth` is that of the value when it is a container."""
        match type_:
            case inspect.Metadata(type=inner):
                # msgspec annotates this as a bare dict
                extra = type_.extra_json_schema  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
                return self.value(inner, depth) | cast("Schema", extra or {})
            case inspect.UnionType(types=types):
                return {"anyOf": [self.value(member, depth) for member in types]}
            case inspect.StructType(cls=struct):
                return self.part(struct, depth)
            case inspect.VarTupleType(item_type=item, min_length=least, max_length=most):
                return {"type": "array", "items": self.value(item, depth + 1)} | bounds("Items", least, most)
            case inspect.DictType(value_type=inspect.AnyType()):
                return self._named(self.anything(DEPTH_MAX - depth))
            case inspect.DictType(value_type=inner):
                return self._named(self.value(inner, depth + 1))
            case _:
                return _scalar(type_)

    @staticmethod
    def _named(values: Schema) -> Schema:
        return {"type": "object", "propertyNames": {"pattern": CLEAN}, "additionalProperties": values}


def _scalar(type_: inspect.Type) -> Schema:
    match type_:
        case inspect.LiteralType(values=values):
            return {"enum": list(values)}
        case inspect.StrType(min_length=least, max_length=most, pattern=pattern):
            return {"type": "string"} | bounds("Length", least, most) | _pattern(pattern)
        case inspect.IntType(ge=int(least), le=int(most)):
            return {"type": "integer", "minimum": least, "maximum": most}
        case inspect.BoolType():
            return {"type": "boolean"}
        case inspect.NoneType():
            return {"type": "null"}
        case _:
            raise TypeError(f"no event holds a {type_}")


def bounds(what: str, least: int | None, most: int | None) -> Schema:
    """Return `minLength`, `maxItems` and so on, those that are set."""
    low: Schema = {} if least is None else {f"min{what}": least}
    return low if most is None else low | {f"max{what}": most}


def _pattern(pattern: str | None) -> Schema:
    if pattern is None:
        return {"pattern": CLEAN}
    return (
        {"pattern": pattern}
        if pattern.endswith(END)
        else {"allOf": [{"pattern": CLEAN}, {"pattern": pattern}]}
    )


# The laws: what fields say about one another, and what is waived for imports.


def laws_of(kind: str, parts: Parts) -> list[Schema]:
    """Return what every event of a kind keeps, beyond the types of its fields."""
    of_calls: Schema = {
        "if": {"properties": {"call": {"type": "null"}}},
        "then": {"properties": {"saw": {"maxItems": 0}}},
        "else": {"properties": {"saw": {"minItems": 1}, "via": {"type": "null"}}},
    }
    return [of_calls, *_waived_laws(kind, parts)]


def _waived_laws(kind: str, parts: Parts) -> list[Schema]:
    """Return the laws of every event that is not imported."""
    shape = KINDS[kind].model
    laws = [_law(law, shape) for law in KINDS[kind].laws if not isinstance(law, Total)]
    if kind != "artifact":
        return [{"if": IMPORTED, "else": {"allOf": laws}}] if laws else []
    for name, body in BODIES.items():
        of_type: Schema = {"properties": {"type": {"const": name}}}
        laws.append({"if": of_type, "then": {"properties": {"body": parts.part(body, 2)}}})
    free = {"properties": {"body": parts.value(_field(shape, "body"), 2)}}
    return [{"if": IMPORTED, "then": free, "else": {"allOf": laws}}]


def _law(law: Length | Paired, shape: type[msgspec.Struct]) -> Schema:
    if isinstance(law, Paired):
        return _paired(law)
    length = _length(law, shape)
    if law.when is not None:
        return {"if": {"properties": {law.when[0]: {"const": law.when[1]}}}, "then": length}
    if law.unless is not None:
        return {"if": {"properties": {law.unless[0]: {"const": law.unless[1]}}}, "else": length}
    return length


def _paired(law: Paired) -> Schema:
    other = {"not": NULL} if law.equals is None else {"const": law.equals}
    return {
        "if": {"properties": {law.other: other}},
        "then": {"properties": {law.field: {"not": NULL}}},
        "else": {"properties": {law.field: NULL}},
    }


def _length(law: Length, shape: type[msgspec.Struct]) -> Schema:
    outer, _, inner = law.path.partition("[].")
    field = _field(shape, outer)
    if inner:
        assert isinstance(field, inspect.VarTupleType)
        assert isinstance(field.item_type, inspect.StructType)
        field = _field(field.item_type.cls, inner)
    is_list = isinstance(field, inspect.VarTupleType)
    length = bounds("Items" if is_list else "Length", law.at_least or None, law.at_most)
    at = {"properties": {inner: length}} if inner else length
    return {"properties": {outer: {"items": at} if inner else at}}


def _field(shape: type[msgspec.Struct], name: str) -> inspect.Type:
    """Return the type of a field."""
    info = inspect.type_info(shape)
    assert isinstance(info, inspect.StructType)
    return next(field.type for field in info.fields if field.name == name)


def main(arguments: list[str]) -> int:
    """Write the schemas; with --check, compare them with the files and print the names that differ."""
    return schemas.main(arguments, "ledger.format.schema", published())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
