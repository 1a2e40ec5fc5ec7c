"""The door for what comes in: a format's reader, then a run made in one commit, or not at all (FORMAT 12)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from ledger.events import RunOpened
from ledger.failures import LedgerError
from ledger.interchange.report import ImportReport
from ledger.interchange.skill_directory import read_directory
from ledger.interchange.skill_import import Imported, counts, read_skill
from ledger.interchange.skill_opening import Terms
from ledger.store import create_run


def _skill(src: Path, terms: Terms) -> Imported:
    return read_skill(read_directory(src), terms)


READERS: Final[Mapping[str, Callable[[Path, Terms], Imported]]] = {"skill": _skill}
"""Format → how its source is read."""


class UnknownFormat(LedgerError):
    """The format is none that moot reads or writes."""

    exit_code = 2

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"format {name!r} is unknown", "format", f"known are {', '.join(known)}")


def import_run(
    format: str,
    src: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    at: str,
    terms: Terms | None = None,
    sync: bool = True,
) -> ImportReport:
    """Make the run `out` from `src`. `at` is the instant that its events carry.

    With bad lines the report says so (`ok` false) and nothing is written. Raises `UnknownFormat`, `NotAStateDirectory`,
    and what `create_run` raises, above all `AlreadyARun`.
    """
    if format not in READERS:
        raise UnknownFormat(format, READERS)
    imported = READERS[format](Path(src), terms or Terms())
    head = None if imported.bad else _write(imported, Path(out), at, sync)
    return ImportReport(
        format=format,
        source=str(src),
        run=str(out),
        ok=not imported.bad,
        counts=counts(imported.events),
        bad_lines=list(imported.bad),
        mapped_ids=list(imported.mapped),
        status_differences=list(imported.differences),
        notes=list(imported.notes),
        head=head,
    )


def _write(imported: Imported, out: Path, at: str, sync: bool) -> str:
    opening, *others = imported.events
    assert isinstance(opening, RunOpened), "an import begins with run_opened"
    return create_run(out, opening, others, blobs=imported.blobs, at=at, sync=sync).head().hash
