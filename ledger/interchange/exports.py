"""The door for what goes out: a format's exporter, then its files in a directory that held nothing before."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from ledger.interchange.csv_export import export_csv
from ledger.interchange.imports import NotEmpty, UnknownFormat
from ledger.interchange.markdown_export import export_markdown
from ledger.interchange.report import Exported, ExportReport
from ledger.interchange.skill_export import export_skill
from ledger.state.book import Book
from ledger.store.disk import Disk, staged, writing

EXPORTERS: Final[Mapping[str, Callable[[Book], Exported]]] = {
    "skill": export_skill,
    "csv": export_csv,
    "markdown": export_markdown,
}
"""Format → what it makes of a run."""


def export_run(book: Book, format: str, directory: str | os.PathLike[str]) -> ExportReport:
    """Write a run's files in `format` to `directory`, which must be new or empty.

    Raises `UnknownFormat`, `NotEmpty` and `WriteFailed`.
    """
    if format not in EXPORTERS:
        raise UnknownFormat(format, EXPORTERS)
    exported = EXPORTERS[format](book)
    root = Path(directory)
    with writing(root):
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise NotEmpty("there is something already", str(root), "choose a new or an empty directory")
        root.parent.mkdir(parents=True, exist_ok=True)
        with staged(root, disk=Disk()) as staging:
            for path, content in exported.files.items():
                place = staging / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
    return ExportReport(
        format=format, directory=str(root), files=list(exported.files), notes=list(exported.notes)
    )
