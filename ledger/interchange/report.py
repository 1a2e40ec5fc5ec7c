"""What an import or an export did, named by file and line: the `--json` output of both."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from ledger.result import Result


class BadLine(Result, frozen=True):
    """A line that is not what its file holds. Lines count from 1; 0 is the file as a whole."""

    file: str
    line: int
    message: str


class MappedId(Result, frozen=True):
    """An id that was illegal or taken, and the one that stands for it now."""

    file: str
    old: str
    new: str
    why: str


class StatusDifference(Result, frozen=True):
    """A claim whose stored status is not what its verifications lead to; the latter counts (SD-57)."""

    id: str
    stored: str
    folded: str


class ImportReport(Result, frozen=True):
    """Result of an import. `ok` is false exactly when there are bad lines, and then nothing was written."""

    format: str
    source: str
    run: str
    ok: bool
    counts: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    bad_lines: list[BadLine] = msgspec.field(default_factory=list[BadLine])
    mapped_ids: list[MappedId] = msgspec.field(default_factory=list[MappedId])
    status_differences: list[StatusDifference] = msgspec.field(default_factory=list[StatusDifference])
    notes: list[str] = msgspec.field(default_factory=list[str])
    head: str | None = None


class ExportReport(Result, frozen=True):
    """Result of an export: the files written, relative to `directory`, and what the format could not hold."""

    format: str
    directory: str
    files: list[str]
    notes: list[str] = msgspec.field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Exported:
    """Output of an exporter: files by path, and what its format could not hold."""

    files: dict[str, bytes]
    notes: tuple[str, ...] = ()
