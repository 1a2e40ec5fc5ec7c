"""Bytes of a state directory into rows; every line that is no row is named with its file and number (FORMAT 12)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isinf
from typing import Any, Final, TypeVar, cast

import msgspec

from ledger.events.values import DEPTH_MAX, SAFE_INTEGER
from ledger.interchange.report import BadLine
from ledger.interchange.skill_rows import FILES, REMEMBERED, Row, known_keys

ROW_BYTES_MAX: Final = 900_000
"""A line of the ledger has at most 1 MiB; the rest is for the envelope and for what an id or a goal adds."""
FILE_BYTES_MAX: Final = 1 << 28
BAD_LINES_MAX: Final = 1_000

UNKEPT: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters that no string of a ledger holds (FORMAT 1)."""

R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True)
class Placed:
    """A row with its line number, and its content in a fixed form, which orders rows that share a place."""

    line: int
    key: str
    row: Row


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a source, by file, with what is wrong and what was not taken over."""

    by_file: Mapping[str, tuple[Placed, ...]]
    seen: frozenset[str]
    """Optional keys that occur, as `claims.anchor_ref`."""
    bad: tuple[BadLine, ...]
    notes: tuple[str, ...]

    def of(self, name: str, row_type: type[R]) -> tuple[tuple[str, R], ...]:
        """Key and row for every row of a file, in file order."""
        return tuple(
            (placed.key, placed.row)
            for placed in self.by_file.get(name, ())
            if isinstance(placed.row, row_type)
        )


class _NotARow(ValueError):
    """Why a line is no row."""


def read_rows(source: Mapping[str, bytes]) -> Rows:
    """The rows of the files that `FILES` names; a missing file has none (SD-49)."""
    by_file: dict[str, tuple[Placed, ...]] = {}
    seen: set[str] = set()
    ignored: dict[str, int] = {}
    bad: list[BadLine] = []
    for name, row_type in FILES.items():
        placed: list[Placed] = []
        known = known_keys(row_type)
        for number, line in _lines(name, source.get(name, b"")):
            try:
                content = _object(line)
                placed.append(Placed(number, _key(content), _convert(content, row_type)))
            except _NotARow as problem:
                bad.append(BadLine(file=name, line=number, message=str(problem)))
                continue
            stem = name.partition(".")[0]
            seen.update(f"{stem}.{key}" for key in REMEMBERED.get(name, ()) if key in content)
            for key in content.keys() - known:
                ignored[f"{name}: {key}"] = ignored.get(f"{name}: {key}", 0) + 1
            if name == "run.json":
                seen.add("run")
        by_file[name] = tuple(placed)
    notes = tuple(f"{key} is not taken over ({count} rows)" for key, count in sorted(ignored.items()))
    return Rows(by_file, frozenset(seen), tuple(bad[:BAD_LINES_MAX]), notes)


def _lines(name: str, content: bytes) -> Iterator[tuple[int, bytes]]:
    if not name.endswith(".jsonl"):
        if content.strip():
            yield 1, content
        return
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            yield number, line


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > ROW_BYTES_MAX:
        raise _NotARow(f"longer than {ROW_BYTES_MAX} bytes")
    try:
        value = json.loads(line.decode(), object_pairs_hook=_unique, parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise _NotARow(f"not UTF-8: byte {error.start + 1} is 0x{line[error.start]:02x}") from None
    except RecursionError:
        raise _NotARow(f"nested deeper than {DEPTH_MAX}") from None
    except json.JSONDecodeError as error:
        raise _NotARow(f"not JSON: {error.msg} at column {error.colno}") from None
    except _NotARow:
        raise
    except ValueError:
        raise _NotARow("not JSON: a number is too long") from None
    if not isinstance(value, dict):
        raise _NotARow("not a JSON object")
    _check_values(value, 1)
    return cast("dict[str, Any]", value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, inner in pairs:
        if key in value:
            raise _NotARow(f"key {json.dumps(key[:40])} occurs twice")
        value[key] = inner
    return value


def _refuse(constant: str) -> Any:
    raise _NotARow(f"not JSON: {constant}")


def _check_values(value: Any, depth: int) -> None:
    if depth > DEPTH_MAX:
        raise _NotARow(f"nested deeper than {DEPTH_MAX}")
    if isinstance(value, str):
        found = UNKEPT.search(value)
        if found:
            raise _NotARow(f"a string holds the character U+{ord(found[0]):04X}, which a ledger cannot keep")
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            _check_values(key, depth)
            _check_values(inner, depth + 1)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            _check_values(inner, depth + 1)
    elif isinstance(value, int) and abs(value) > SAFE_INTEGER:
        raise _NotARow("an integer is beyond 2^53-1")
    elif isinstance(value, float) and isinf(value):
        raise _NotARow("a number is beyond every double")


def _convert(content: dict[str, Any], row_type: type[Row]) -> Row:
    try:
        return msgspec.convert(content, row_type)
    except msgspec.ValidationError as error:
        raise _NotARow(_in_words(str(error))) from None


def _in_words(message: str) -> str:
    """msgspec's message with the place first: `result: invalid enum value 'GREAT'`."""
    what, _, where = message.partition(" - at `$")
    what = what[:1].lower() + what[1:]
    place = where.rstrip("`").lstrip(".")
    return f"{place}: {what}" if place else what


def _key(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
