"""Grammar: the strings of an event that have a form (hashes, roles, decimals, …) have it.

Which strings these are is read from the types, once a kind. What was found good is remembered, because the same roles,
steps and hashes stand in many events.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple, cast

import msgspec
from msgspec import inspect

Check = Callable[[Any], "str | None"]

REMEMBERED_MAX: Final = 4_096
IN_THE_PREFIX: Final = frozenset({"prev", "at"})
"""Fields of the envelope whose form is checked in the bytes of the line (`canonical.py`)."""


class _Text(NamedTuple):
    """A field that holds a string with a form, or None."""

    name: str
    known: set[str]
    match: Callable[[str], object]


class _Part(NamedTuple):
    """A field that holds a struct, None, or many structs, with strings inside that have a form."""

    name: str
    check: Check
    many: bool


@cache
def grammar(struct: type[msgspec.Struct]) -> Check:
    """A function that says what is wrong with the strings of a `struct`, or None."""
    texts: list[_Text] = []
    parts: list[_Part] = []
    for field in _fields(struct):
        if field.name in IN_THE_PREFIX:
            continue
        pattern = _pattern(field.type)
        if pattern is not None:
            texts.append(_Text(field.name, _known(pattern), re.compile(pattern).search))
            continue
        inner = _struct_in(field.type)
        if inner is not None and has_forms(inner):
            parts.append(_Part(field.name, grammar(inner), _is_list(field.type)))
    return _checker(tuple(texts), tuple(parts))


def _checker(texts: tuple[_Text, ...], parts: tuple[_Part, ...]) -> Check:
    def check(value: Any) -> str | None:
        for name, known, match in texts:
            text: str | None = getattr(value, name)
            if text in known or text is None:
                continue
            if not match(text):
                return f"{name} {text!r} has not its form"
            if len(known) >= REMEMBERED_MAX:
                known.clear()
            known.add(text)
        for name, inner, many in parts:
            part = getattr(value, name)
            if not part:
                continue
            for one in part if many else (part,):
                problem = inner(one)
                if problem:
                    return f"{name}: {problem}"
        return None

    return check


@cache
def _known(pattern: str) -> set[str]:  # noqa: ARG001 (one set a pattern, shared by all fields that have it)
    return set()


@cache
def has_forms(struct: type[msgspec.Struct]) -> bool:
    """Whether some string in `struct`, or in its parts, has a form."""
    return any(
        _pattern(field.type) is not None
        or ((inner := _struct_in(field.type)) is not None and has_forms(inner))
        for field in _fields(struct)
    )


def _fields(struct: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType), struct
    return info.fields


def _choices(type_: inspect.Type) -> tuple[inspect.Type, ...]:
    return type_.types if isinstance(type_, inspect.UnionType) else (type_,)


def _pattern(type_: inspect.Type) -> str | None:
    for choice in _choices(type_):
        if isinstance(choice, inspect.Metadata):
            # msgspec annotates this as a bare dict
            published = choice.extra_json_schema  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            return cast("dict[str, str]", published or {}).get("pattern")
    return None


def _is_list(type_: inspect.Type) -> bool:
    return any(isinstance(choice, inspect.VarTupleType) for choice in _choices(type_))


def _struct_in(type_: inspect.Type) -> type[msgspec.Struct] | None:
    for choice in _choices(type_):
        inner = choice.item_type if isinstance(choice, inspect.VarTupleType) else choice
        assert _pattern(inner) is None or inner is choice, "a list of strings with a form is not checked"
        if isinstance(inner, inspect.StructType):
            return inner.cls
    return None
