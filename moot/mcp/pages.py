"""Results in pages: agent hosts cut or refuse what is longer than 20,000 to 25,000 tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import reduce
from itertools import islice
from operator import getitem
from typing import Any, Final, cast

import orjson
from pydantic import BaseModel, Field

from moot.errors import usage

RESULT_BYTES_MAX: Final = 36_000
"""A result goes over the wire twice, as text and as structure: together 72,000 bytes, at most 20,000 tokens."""
TEXT_CHARACTERS_MAX: Final = (4_000, 1_000, 200)
ROWS_MAX: Final = 40

PARTS: Final[Mapping[str, tuple[tuple[str, ...], ...] | None]] = {
    "protocols": (("protocols",),),
    "next": (("steps",),),
    "claims": (("claims",),),
    "decisions": (("decisions",),),
    "check": (("findings",),),
    "signals": (),
    "forecasts": (),
    "diff": (("texts", "a"), ("texts", "b")),
    "report": (("text",),),
    "log": (("events",),),
    "show": None,
    "why": (("nodes",),),
}
"""Tool → the lists, tables or texts of its result of which `limit` and `after` count the entries or characters.

None: the tool has no such arguments, and only long texts are cut.
"""


class NextPage(BaseModel):
    """What a result leaves out, and how to get it."""

    what: str
    after: int | None = Field(description="Call again with this `after`; null: this is the last page.")
    fix: str


def page(tool: str, result: dict[str, Any], limit: int | None, after: int) -> dict[str, Any]:
    """Return the entries of a result that follow the first `after`: `limit` of them, and no more than fit.

    `left_out` says what is missing, and is null when the result is complete. Raises `MootError` for a page beyond the
    end.
    """
    if after < 0 or (limit is not None and limit < 1):
        raise usage("`after` is 0 or more, `limit` 1 or more", "leave them out for the first page", tool)
    parts = PARTS[tool] or ()
    unit = "characters" if tool == "report" else "entries"
    # A result may have two lists, as `diff` has: the longer one decides how many pages there are.
    total = max((len(reduce(getitem, part, result)) for part in parts), default=0)
    # The first page of an empty result exists, any later one does not.
    if after and after >= total:
        raise usage(f"this result has {total} {unit}", "begin again with `after` 0", "after")
    most = max(1, min(limit or total, total - after))
    # Entries differ in size, so the largest number that fits is searched by halving.
    fitting = bisect_right(
        range(1, most + 1), RESULT_BYTES_MAX, key=lambda count: size_of(_cut(result, parts, after, count))
    )
    end = after + max(1, fitting)
    cut, what, fixes = _cut(result, parts, after, end - after), list[str](), dict[str, None]()
    more = end if end < total else None
    if after or more is not None:
        what.append(f"{unit} {after + 1} to {min(end, total)} of {total}")
        fixes["this is the last page" if more is None else f"call `{tool}` again with `after` {end}"] = None
    # A seat needs its brief as it is: `next` has cut it already, to where the caller wanted it.
    for characters in TEXT_CHARACTERS_MAX if tool != "next" else ():
        if size_of(cut) <= RESULT_BYTES_MAX:
            break
        cut = _shortened(cut, characters)
        what.append(f"texts after {characters} characters, lists after {ROWS_MAX} rows")
        if more is None:
            fixes.clear()
        fixes[
            "read the whole of it with `moot log RUN ID` on the command line, or in the page of the run"
        ] = None
    left_out = NextPage(what="; ".join(what), after=more, fix="; ".join(fixes)) if what else None
    return {**cut, "left_out": None if left_out is None else left_out.model_dump()}


def size_of(result: object) -> int:
    """Return the bytes of a result as JSON."""
    return len(orjson.dumps(result))


def _cut(
    result: dict[str, Any], parts: tuple[tuple[str, ...], ...], after: int, count: int
) -> dict[str, Any]:
    for part in parts:
        result = _replaced(result, part, _window(reduce(getitem, part, result), after, after + count))
    return result


def _replaced(result: dict[str, Any], part: tuple[str, ...], value: object) -> dict[str, Any]:
    key, *rest = part
    return {**result, key: _replaced(result[key], tuple(rest), value) if rest else value}


def _window(value: Any, start: int, end: int) -> object:
    if isinstance(value, dict):
        return dict(islice(cast("dict[str, Any]", value).items(), start, end))
    return value[start:end]


def _shortened(value: Any, characters: int) -> Any:
    """Return the value with long texts and lists cut."""
    if isinstance(value, str):
        return value if len(value) <= characters else f"{value[:characters]} …"
    if isinstance(value, list):
        return [_shortened(entry, characters) for entry in cast("list[Any]", value)[:ROWS_MAX]]
    if isinstance(value, dict):
        return {key: _shortened(entry, characters) for key, entry in cast("dict[str, Any]", value).items()}
    return value
