"""Laws as JSON Schema: what fields of an event say about one another, and what is waived for imports."""

from __future__ import annotations

from typing import Final

from msgspec import inspect

from ledger.events import KINDS
from ledger.events.artifacts import BODIES
from ledger.events.laws import LAWS, Law, Length, Paired
from ledger.format.schema_parts import Parts, Schema, bounds

IMPORTED: Final[Schema] = {"properties": {"by": {"const": "import"}}}
NULL: Final[Schema] = {"type": "null"}


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
