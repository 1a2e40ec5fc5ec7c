"""A run as tables: one CSV file a kind, inert in spreadsheets.

A cell that a spreadsheet would take for a formula (it begins with = + - @, their full-width forms, TAB, CR or LF) is
written behind an apostrophe.
Lists and objects are compact JSON. `lifecycle.csv` holds what no event stores: every move of every claim.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from ledger.events import KINDS, Event
from ledger.interchange.report import Exported
from ledger.state.book import Book

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
LIFECYCLE_COLUMNS: Final = ("claim", "round", "from", "to", "bearing", "by", "seq", "legal")


def export_csv(book: Book) -> Exported:
    """`<kind>.csv` for every kind that occurs, and `lifecycle.csv`."""
    files: dict[str, bytes] = {}
    for kind, (event_type, _) in KINDS.items():
        events = [event for event in book.events if event.kind == kind]
        if events:
            columns = [field.encode_name for field in msgspec.structs.fields(event_type)]
            files[f"{kind}.csv"] = table(columns, (_cells(event, columns) for event in events))
    files["lifecycle.csv"] = table(LIFECYCLE_COLUMNS, _moves(book))
    return Exported(files)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A CSV file: UTF-8, commas, CRLF, a header line (RFC 4180)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([inert(column) for column in columns])
    writer.writerows([inert(_plain(cell)) for cell in row] for row in rows)
    return text.getvalue().encode()


def inert(cell: str) -> str:
    """`cell` as text that no spreadsheet runs."""
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def _cells(event: Event, columns: Sequence[str]) -> list[Any]:
    fields: dict[str, Any] = msgspec.to_builtins(event)
    return [fields[column] for column in columns]


def _moves(book: Book) -> Iterable[Sequence[Any]]:
    for identity, facts in book.state.claims.items():
        for move in facts.history:
            yield identity, move.round, move.from_, move.to, move.bearing, move.by, move.seq, move.legal
