"""Results in pages: agent hosts cut or refuse what is longer than 20,000 to 25,000 tokens."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
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
    total = max((len(_at(result, part)) for part in parts), default=0)
    # The first page of an empty result exists, any later one does not.
    if after and after >= total:
        raise usage(f"this result has {total} {unit}", "begin again with `after` 0", "after")
    fewest, most = 1, max(1, min(limit or total, total - after))
    # Entries differ in size, so the largest number that fits is searched by halving.
    while fewest < most:
        count = (fewest + most + 1) // 2
        if size_of(_cut(result, parts, after, count)) <= RESULT_BYTES_MAX:
            fewest = count
        else:
            most = count - 1
    cut = _cut(result, parts, after, fewest)
    end = after + fewest
    left_out: NextPage | None = None
    if after or end < total:
        more = end if end < total else None
        fix = "this is the last page" if more is None else f"call `{tool}` again with `after` {end}"
        left_out = NextPage(what=f"{unit} {after + 1} to {min(end, total)} of {total}", after=more, fix=fix)
    # A seat needs its brief as it is: `next` has cut it already, to where the caller wanted it.
    for characters in TEXT_CHARACTERS_MAX if tool != "next" else ():
        if size_of(cut) <= RESULT_BYTES_MAX:
            break
        cut = _shortened(cut, characters)
        what = f"{left_out.what}; " if left_out else ""
        what += f"texts after {characters} characters, lists after {ROWS_MAX} rows"
        fix = f"{left_out.fix}; " if left_out and left_out.after else ""
        fix += "read the whole of it with `moot log RUN ID` on the command line, or in the page of the run"
        left_out = NextPage(what=what, after=left_out.after if left_out else None, fix=fix)
    return {**cut, "left_out": None if left_out is None else left_out.model_dump()}


def size_of(result: object) -> int:
    """Return the bytes of a result as JSON."""
    return len(orjson.dumps(result))


def _at(result: Any, part: tuple[str, ...]) -> Any:
    for key in part:
        result = result[key]
    return result


def _cut(
    result: dict[str, Any], parts: tuple[tuple[str, ...], ...], after: int, count: int
) -> dict[str, Any]:
    for part in parts:
        result = _replaced(result, part, _window(_at(result, part), after, after + count))
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
