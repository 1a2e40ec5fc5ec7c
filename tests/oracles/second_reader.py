"""A second reader of lines, written from docs/format.md and schemas/events alone, with the standard library.

`verdict(line)` says `valid`, `invalid` or `another`. JSON is read by `json`; the schemas are compiled to functions by
the few keywords of draft 2020-12 that they use, and an unknown keyword is an error, not passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

SCHEMAS: Final = Path(__file__).resolve().parents[2] / "schemas" / "events"
BYTES_MAX: Final = 1 << 20
DEPTH_MAX: Final = 12
VERSION: Final = 3
"""The version of the format that this reader knows."""
INTEGER_MAX: Final = 2**53 - 1
PREFIX: Final = re.compile(
    rb'\{"prev":"[0-9a-f]{64}","seq":(?:0|[1-9][0-9]{0,15}),"rest":(?:0|[1-9][0-9]{0,15}),"v":([1-9][0-9]{0,5}),'
)
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
NOTES: Final = frozenset({"$schema", "$id", "$defs", "title", "description"})

Check = Callable[[Any], bool]


class Refused(ValueError):
    """Why a line is not canonical."""


def verdict(line: bytes) -> str:
    """What a line without its line feed is: `valid`, `invalid`, or of `another` format."""
    prefix = PREFIX.match(line)
    if prefix is None or len(line) > BYTES_MAX:
        return "invalid"
    if int(prefix[1]) != VERSION:
        return "another"
    try:
        value = _canonical(line)
        check = schema_of(str(value.get("kind")))
    except (ValueError, RecursionError, OverflowError):
        return "invalid"
    return "valid" if check is not None and check(value) and _totals_hold(value) else "invalid"


def _totals_hold(value: dict[str, Any]) -> bool:
    """The points of a belief and of its conditionals sum to 100, which no schema can say; an import need not."""
    if value["kind"] != "belief" or value["by"] == "import":
        return True
    given = [points for one in value["given"] for points in (one["if_true"], one["if_false"])]
    return all(sum(points.values()) == 100 for points in [value["points"], *given])


def _canonical(line: bytes) -> dict[str, Any]:
    """The object that a line is. Raises `ValueError` when other bytes would say the same, or the profile is broken."""
    text = line.decode("utf-8")
    value = json.loads(text, parse_float=_refuse, parse_constant=_refuse, parse_int=_integer)
    if not isinstance(value, dict):
        raise Refused("no object")
    _look(value, 1)
    if json.dumps(value, ensure_ascii=False, separators=(",", ":")) != text:
        raise Refused("the bytes are not the compact form of their content")
    return value


def _refuse(said: str) -> Any:
    raise Refused(f"{said} is no integer")


def _integer(said: str) -> int:
    if len(said) > 17 or abs(int(said)) > INTEGER_MAX:
        raise Refused(f"{said[:20]} is out of range")
    return int(said)


def _look(value: Any, depth: int) -> None:
    if isinstance(value, str):
        if CONTROL.search(value):
            raise Refused("a control character")
    elif isinstance(value, dict | list):
        if depth > DEPTH_MAX:
            raise Refused("too deep")
        for key in value if isinstance(value, dict) else ():
            _look(key, depth)
        for inner in value.values() if isinstance(value, dict) else value:
            _look(inner, depth + 1)


@cache
def schema_of(kind: str) -> Check | None:
    """The check that a kind's published schema makes; None for a kind that has none."""
    path = SCHEMAS / f"{kind}.json"
    if not re.fullmatch(r"[a-z_]{1,40}", kind) or not path.is_file():
        return None
    return Compiled(json.loads(path.read_text("utf-8"))).check


class Compiled:
    """A schema as a function; parts that are referred to are made when they are asked for, once."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._parts: dict[str, Check] = {}
        self.check = self.of(root)

    def of(self, schema: Any) -> Check:
        """The check of a schema: all that its keywords ask."""
        if isinstance(schema, bool):
            return lambda _: schema
        checks = list(self._checks(schema))
        if len(checks) == 1:
            return checks[0]
        return lambda value: all(check(value) for check in checks)

    def _checks(self, schema: dict[str, Any]) -> Iterator[Check]:
        if "if" in schema:
            yield self._conditional(schema)
        if schema.keys() & {"properties", "additionalProperties", "propertyNames", "required"}:
            yield self._object(schema)
        for word, said in schema.items():
            if word in NOTES or word in ("if", "then", "else", "properties", "additionalProperties"):
                continue
            if word not in ("propertyNames", "required"):
                yield self._keyword(word, said)

    def _keyword(self, word: str, said: Any) -> Check:
        match word:
            case "type":
                types = [TYPES[one] for one in (said if isinstance(said, list) else [said])]
                return lambda value: any(is_type(value) for is_type in types)
            case "const":
                return lambda value: type(value) is type(said) and value == said
            case "enum":
                return lambda value: any(type(value) is type(one) and value == one for one in said)
            case "pattern":
                search = re.compile(said).search
                return lambda value: not isinstance(value, str) or search(value) is not None
            case "minimum":
                return lambda value: not is_number(value) or value >= said
            case "maximum":
                return lambda value: not is_number(value) or value <= said
            case "minLength":
                return lambda value: not isinstance(value, str) or len(value) >= said
            case "maxLength":
                return lambda value: not isinstance(value, str) or len(value) <= said
            case "minItems":
                return lambda value: not isinstance(value, list) or len(value) >= said
            case "maxItems":
                return lambda value: not isinstance(value, list) or len(value) <= said
            case "items":
                each = self.of(said)
                return lambda value: not isinstance(value, list) or all(each(one) for one in value)
            case "anyOf":
                some = [self.of(one) for one in said]
                return lambda value: any(check(value) for check in some)
            case "allOf":
                every = [self.of(one) for one in said]
                return lambda value: all(check(value) for check in every)
            case "not":
                other = self.of(said)
                return lambda value: not other(value)
            case "$ref":
                return lambda value: self._part(said)(value)
        raise ValueError(f"this reader does not know the keyword {word}")

    def _part(self, name: str) -> Check:
        if name not in self._parts:
            assert name.startswith("#/$defs/"), name
            self._parts[name] = self.of(self._root["$defs"][name.removeprefix("#/$defs/")])
        return self._parts[name]

    def _conditional(self, schema: dict[str, Any]) -> Check:
        condition = self.of(schema["if"])
        then, otherwise = self.of(schema.get("then", True)), self.of(schema.get("else", True))
        return lambda value: then(value) if condition(value) else otherwise(value)

    def _object(self, schema: dict[str, Any]) -> Check:
        known = {name: self.of(said) for name, said in schema.get("properties", {}).items()}
        other, names = (
            self.of(schema.get("additionalProperties", True)),
            self.of(schema.get("propertyNames", True)),
        )
        required = schema.get("required", [])

        def check(value: Any) -> bool:
            if not isinstance(value, dict):
                return True
            if not all(name in value for name in required):
                return False
            return all(names(key) and known.get(key, other)(inner) for key, inner in value.items())

        return check


def is_number(value: Any) -> bool:
    """A number of JSON, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


TYPES: Final[dict[str, Check]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
