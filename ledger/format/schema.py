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
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec
from msgspec import inspect

import schemas
from ledger.events import KINDS
from ledger.events.artifacts import BODIES
from ledger.events.ids import ID_PATTERNS
from ledger.events.laws import LAWS, Law, Length, Paired
from ledger.events.values import DEPTH_MAX, SAFE_INTEGER

Schema = dict[str, Any]

CLEAN: Final = r"^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*$(?!\n)"
"""Text without control characters other than tab and line feed."""
END: Final = r"$(?!\n)"
"""How the forms end that say the whole string. Others say its beginning only."""
IMPORTED: Final[Schema] = {"properties": {"by": {"const": "import"}}}
NULL: Final[Schema] = {"type": "null"}


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


# The types.


def first_line(type_: type) -> str:
    """What a type says of itself."""
    return (type_.__doc__ or "").strip().split("\n")[0]


@dataclass(frozen=True, slots=True)
class Parts:
    """The `$defs` of one schema. A part has its depth in its name: what unknown fields may hold depends on it."""

    definitions: dict[str, Schema]

    def described(self, struct: type[msgspec.Struct], depth: int) -> Schema:
        """An object at that depth: every known field is there, unknown ones are tame."""
        info = inspect.type_info(struct)
        assert isinstance(info, inspect.StructType), struct
        schema: Schema = {
            "type": "object",
            "properties": {field.encode_name: self.value(field.type, depth + 1) for field in info.fields},
            "required": [field.encode_name for field in info.fields],
        }
        if info.forbid_unknown_fields:
            return schema | {"additionalProperties": False}
        return schema | {
            "propertyNames": {"pattern": CLEAN},
            "additionalProperties": self.anything(DEPTH_MAX - depth),
        }

    def part(self, struct: type[msgspec.Struct], depth: int) -> Schema:
        """A reference to the description of `struct` at that depth."""
        name = f"{struct.__name__}-{depth}"
        if name not in self.definitions:
            self.definitions[name] = {"description": first_line(struct), **self.described(struct, depth)}
        return {"$ref": f"#/$defs/{name}"}

    def anything(self, left: int) -> Schema:
        """A reference to any value with at most `left` containers inside one another."""
        name = f"anything-{left}"
        if name not in self.definitions:
            scalars: Schema = {
                "type": ["null", "boolean", "integer", "string"],
                "minimum": -SAFE_INTEGER,
                "maximum": SAFE_INTEGER,
                "pattern": CLEAN,
            }
            self.definitions[name] = scalars | (self._containers(left - 1) if left else {})
        return {"$ref": f"#/$defs/{name}"}

    def _containers(self, left: int) -> Schema:
        return {
            "type": ["null", "boolean", "integer", "string", "array", "object"],
            "items": self.anything(left),
            "propertyNames": {"pattern": CLEAN},
            "additionalProperties": self.anything(left),
        }

    def value(self, type_: inspect.Type, depth: int) -> Schema:
        """The schema of a field or item; `depth` is that of the value when it is a container."""
        match type_:
            case inspect.Metadata(type=inner):
                # msgspec annotates this as a bare dict
                extra = type_.extra_json_schema  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
                return self.value(inner, depth) | cast("Schema", extra or {})
            case inspect.UnionType(types=types):
                return {"anyOf": [self.value(one, depth) for one in types]}
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
    """`minLength`, `maxItems` and so on, those that are given."""
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
    """What every event of a kind keeps, beyond the types of its fields."""
    return [*_call_laws(), *_waived_laws(kind, parts)]


def _call_laws() -> list[Schema]:
    no_call: Schema = {"properties": {"call": {"type": "null"}}}
    return [
        {
            "if": no_call,
            "then": {"properties": {"saw": {"maxItems": 0}}},
            "else": {"properties": {"saw": {"minItems": 1}, "via": {"type": "null"}}},
        }
    ]


def _waived_laws(kind: str, parts: Parts) -> list[Schema]:
    """What holds for every event that is not imported."""
    laws = [_law(law, kind) for law in LAWS.get(kind, ())]
    if kind != "artifact":
        return [{"if": IMPORTED, "else": {"allOf": laws}}] if laws else []
    for name, body in BODIES.items():
        of_type: Schema = {"properties": {"type": {"const": name}}}
        laws.append({"if": of_type, "then": {"properties": {"body": parts.part(body, 2)}}})
    free = {"properties": {"body": parts.value(_field(kind, "body"), 2)}}
    return [{"if": IMPORTED, "then": free, "else": {"allOf": laws}}]


def _law(law: Law, kind: str) -> Schema:
    if isinstance(law, Paired):
        return _paired(law)
    length = _length(law, kind)
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


def _length(law: Length, kind: str) -> Schema:
    outer, _, inner = law.path.partition("[].")
    is_list = not inner and isinstance(_field(kind, outer), inspect.VarTupleType)
    length = bounds("Items" if is_list else "Length", law.at_least or None, law.at_most)
    at = {"properties": {inner: length}} if inner else length
    return {"properties": {outer: {"items": at} if inner else at}}


def _field(kind: str, name: str) -> inspect.Type:
    """The type of a field, without null."""
    info = inspect.type_info(KINDS[kind][0])
    assert isinstance(info, inspect.StructType)
    return next(field.type for field in info.fields if field.name == name)


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
