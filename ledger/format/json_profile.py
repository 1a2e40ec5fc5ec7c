"""The JSON profile of a line: no fractions, bounded integers, bounded depth, no control characters (FORMAT 1)."""

from __future__ import annotations

import re
from typing import Any, Final, cast

import orjson

from ledger.events.values import DEPTH_MAX, SAFE_INTEGER

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class NotCanonical(ValueError):
    """A line that is no event: the message says why, in one clause."""


def parse(line: bytes) -> dict[str, Any]:
    """The object that a line is, any numbers and text allowed."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise NotCanonical(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise NotCanonical("not a JSON object")
    return cast("dict[str, Any]", value)


def check_numbers_and_depth(value: Any, depth: int) -> None:
    """For values that no type bounds. The line is depth 1."""
    if isinstance(value, float):
        raise NotCanonical("a floating-point number occurs")
    if isinstance(value, int) and not -SAFE_INTEGER <= value <= SAFE_INTEGER:
        raise NotCanonical("an integer beyond 2^53-1 occurs")
    if not isinstance(value, dict | list):
        return
    if depth > DEPTH_MAX:
        raise NotCanonical(f"nested deeper than {DEPTH_MAX}")
    container = cast("dict[str, Any] | list[Any]", value)
    for inner in container.values() if isinstance(container, dict) else container:
        check_numbers_and_depth(inner, depth + 1)


def refuse_control_characters(value: Any) -> None:
    """In any string of `value`, names of fields included; tab and line feed are allowed."""
    if isinstance(value, str):
        found = _CONTROL.search(value)
        if found:
            raise NotCanonical(f"control character U+{ord(found[0]):04X} in a string")
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            refuse_control_characters(key)
            refuse_control_characters(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            refuse_control_characters(inner)
