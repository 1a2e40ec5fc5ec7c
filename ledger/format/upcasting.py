"""Upcasting: lines of older formats are read for ever, as what they would be in the present one (FORMAT 1).

Format 0 is what was written before publication. Its lines say `"v":0`; they have no `via`, their `call` has no
`tokens_cache_write`, and a claim calls `testable_as` `test`. The chain is over the lines as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import orjson

from ledger.format.json_profile import NotCanonical, check_numbers_and_depth, parse

_OLDER: Final = re.compile(
    rb'\{"prev":"[0-9a-f]{64}","seq":(?:0|[1-9][0-9]{0,15}),"rest":(?:0|[1-9][0-9]{0,15}),"v":(0),'
)
Fields = dict[str, Any]


def version_of_older(line: bytes) -> int | None:
    """The format of a line that is older than the present one; None for others."""
    match = _OLDER.match(line)
    return int(match[1]) if match else None


def upcast(line: bytes, version: int) -> bytes:
    """The line of the present format that says what an older one says. Raises `NotCanonical`."""
    fields = parse(line)
    check_numbers_and_depth(fields, 1)
    if orjson.dumps(fields) != line:
        raise NotCanonical("the bytes are not the canonical form of their own content")
    for step in STEPS[version:]:
        fields = step(fields)
    return orjson.dumps(fields)


def _from_0(fields: Fields) -> Fields:
    """Format 1 of a line of format 0."""
    if "via" in fields:
        raise NotCanonical("via does not occur in format 0")
    return dict(_pairs_from_0(fields))


def _pairs_from_0(fields: Fields) -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        match name:
            case "v":
                yield name, 1
            case "call":
                yield name, _call_from_0(cast("Fields", value)) if isinstance(value, dict) else value
                yield "via", None
            case "test" if fields.get("kind") == "claim":
                yield "testable_as", value
            case _:
                yield name, value


def _call_from_0(call: Fields) -> Fields:
    if "tokens_cache_write" in call:
        raise NotCanonical("call.tokens_cache_write does not occur in format 0")
    found: Fields = {}
    for name, value in call.items():
        found[name] = value
        if name == "tokens_cached":
            found["tokens_cache_write"] = None
    return found


STEPS: Final[tuple[Callable[[Fields], Fields], ...]] = (_from_0,)
"""Step n turns a line of format n into one of format n + 1."""
