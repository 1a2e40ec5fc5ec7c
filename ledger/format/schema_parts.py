"""Types as JSON Schema: what a field or a part of an event may be (draft 2020-12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec
from msgspec import inspect

from ledger.events.values import DEPTH_MAX, SAFE_INTEGER

Schema = dict[str, Any]

CLEAN: Final = r"^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*$(?!\n)"
"""Text without control characters other than tab and line feed."""
END: Final = r"$(?!\n)"
"""How the forms end that say the whole string. Others say its beginning only."""


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
