"""Import and export: a reader makes a run in one commit or not at all; an exporter fills a directory (FORMAT 12)."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ledger.events import Event, RunOpened
from ledger.format.canonical import NotCanonical
from ledger.interchange.jugalbandi import read_result
from ledger.interchange.report import BadLine, Exported, ExportReport, ImportReport
from ledger.interchange.skill_export import export_skill
from ledger.interchange.skill_import import Imported, Terms, counts, read_directory, read_skill
from ledger.interchange.skill_rows import FILE_BYTES_MAX
from ledger.state.book import Book
from ledger.store.disk import read_plain, readable, staged, writing
from ledger.store.failures import LedgerError
from ledger.store.store import create_run

Screen = Callable[[Sequence[Event]], tuple[Event, ...]]
"""Function that returns the screening events of an import's texts, which follow the opening."""


def _jugalbandi(src: Path, terms: Terms) -> Mapping[str, Imported]:
    with readable(src):
        content = read_plain(src, FILE_BYTES_MAX)
    return read_result(content, src.name, terms)


READERS: Final[Mapping[str, Callable[[Path, Terms], Mapping[str, Imported]]]] = {
    "skill": lambda src, terms: {"": read_skill(read_directory(src), terms)},
    "jugalbandi": _jugalbandi,
}
"""Format → how its source is read: directory below the run's place → a run; "" is the place itself."""


class NotEmpty(LedgerError):
    """Several files or runs were to go where something exists already."""

    exit_code = 2


class UnknownFormat(LedgerError):
    """Format that moot neither reads nor writes."""

    exit_code = 2

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"format {name!r} is unknown", "format", f"known are {', '.join(known)}")


@contextmanager
def _filled(directory: Path) -> Generator[Path]:
    """Yield a new or empty directory, which appears with all that is put into it.

    Raises `NotEmpty` and `WriteFailed`.
    """
    with writing(directory):
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            fix = "choose a new or an empty directory"
            raise NotEmpty("there is something already", str(directory), fix)
        directory.parent.mkdir(parents=True, exist_ok=True)
        with staged(directory) as staging:
            yield staging


def import_run(
    format: str,
    src: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    at: str,
    terms: Terms | None = None,
    screened: Screen = lambda _: (),
) -> ImportReport:
    """Create the run `out` from `src`; a format that holds several runs creates them below `out`.

    `at` is the instant that the events carry; `screened` returns the screening events of their texts, which follow the
    opening. With bad lines the report says so (`ok` false) and nothing is written; the runs of a source appear together
    or not at all. Raises `UnknownFormat`, `NotAStateDirectory`, `NotEmpty`, and what `create_run` raises.
    """
    if format not in READERS:
        raise UnknownFormat(format, READERS)
    imported = READERS[format](Path(src), terms or Terms())
    bad = [line for run in imported.values() for line in run.bad]
    # Nothing is written while any line is bad: half an import would look like a complete one later.
    heads: dict[str, str] = {}
    if not bad:
        try:
            heads = _written(imported, Path(out), at, screened)
        except NotCanonical as error:  # a text that no line holds
            bad = [BadLine(Path(src).name, 0, str(error))]
    several = [f"{name}: head {head}" for name, head in heads.items() if name]
    return ImportReport(
        format=format,
        source=str(src),
        run=str(out),
        ok=not bad,
        counts=counts([event for run in imported.values() for event in run.events]),
        bad_lines=bad,
        mapped_ids=[mapped for run in imported.values() for mapped in run.mapped],
        status_differences=[difference for run in imported.values() for difference in run.differences],
        notes=[*several, *(note for run in imported.values() for note in run.notes)],
        head=next(reversed(heads.values())) if heads else None,
    )


def _written(imported: Mapping[str, Imported], out: Path, at: str, screened: Screen) -> dict[str, str]:
    """Return name → head of the runs that were created: one at `out`, or several in it, which appear at once."""

    def write(run: Imported, place: Path) -> str:
        opening, *others = run.events
        assert isinstance(opening, RunOpened), "an import begins with run_opened"
        extra = (*screened(run.events), *others)
        return create_run(place, opening, extra, blobs=run.blobs, at=at).head().hash

    if set(imported) == {""}:
        return {"": write(imported[""], out)}
    # The runs are made in a hidden directory and renamed at once, so a crash leaves none of them behind.
    with _filled(out) as staging:
        return {name: write(run, staging / name) for name, run in imported.items()}


EXPORTERS: Final[Mapping[str, Callable[[Book], Exported]]] = {
    "skill": export_skill,
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
    with _filled(root) as staging:
        for path, content in exported.files.items():
            place = staging / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    return ExportReport(
        format=format, directory=str(root), files=list(exported.files), notes=list(exported.notes)
    )
