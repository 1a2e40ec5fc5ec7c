"""The door for what comes in: a format's reader, then a run made in one commit, or not at all (FORMAT 12)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from ledger.events import Event, RunOpened
from ledger.format.canonical import NotCanonical
from ledger.interchange.jugalbandi_import import read_result
from ledger.interchange.report import BadLine, ImportReport
from ledger.interchange.skill_directory import read_directory
from ledger.interchange.skill_import import Imported, counts, read_skill
from ledger.interchange.skill_lines import FILE_BYTES_MAX
from ledger.interchange.skill_opening import Terms
from ledger.store.disk import Disk, read_plain, readable, staged, writing
from ledger.store.failures import LedgerError
from ledger.store.store import create_run


def _skill(src: Path, terms: Terms) -> Mapping[str, Imported]:
    return {"": read_skill(read_directory(src), terms)}


def _content(src: Path) -> bytes:
    """The bytes of a source that is one file."""
    with readable(src):
        return read_plain(src, FILE_BYTES_MAX)


def _jugalbandi(src: Path, terms: Terms) -> Mapping[str, Imported]:
    return read_result(_content(src), src.name, terms)


READERS: Final[Mapping[str, Callable[[Path, Terms], Mapping[str, Imported]]]] = {
    "skill": _skill,
    "jugalbandi": _jugalbandi,
}
"""Format → how its source is read: directory below the run's place → a run; "" is the place itself."""


class NotEmpty(LedgerError):
    """Several files or runs were to go where something is already."""

    exit_code = 2


class UnknownFormat(LedgerError):
    """The format is none that moot reads or writes."""

    exit_code = 2

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"format {name!r} is unknown", "format", f"known are {', '.join(known)}")


def nothing_screened(events: Sequence[Event]) -> tuple[Event, ...]:
    """The texts of an import are not looked at."""
    del events
    return ()


def import_run(
    format: str,
    src: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    at: str,
    terms: Terms | None = None,
    sync: bool = True,
    screened: Callable[[Sequence[Event]], tuple[Event, ...]] = nothing_screened,
) -> ImportReport:
    """Make the run `out` from `src`; a format that holds several runs makes them below `out`.

    `at` is the instant that the events carry; `screened` gives what is written of their texts, behind the opening.

    With bad lines the report says so (`ok` false) and nothing is written; the runs of a source appear together or
    not at all. Raises `UnknownFormat`, `NotAStateDirectory`, `NotEmpty`, and what `create_run` raises.
    """
    if format not in READERS:
        raise UnknownFormat(format, READERS)
    imported = READERS[format](Path(src), terms or Terms())
    bad = [line for one in imported.values() for line in one.bad]
    heads: dict[str, str] = {}
    if not bad:
        try:
            heads = _written(
                imported, Path(out), lambda one, place: _write(one, place, at, sync, screened), sync
            )
        except NotCanonical as error:  # a text that no line holds
            bad = [BadLine(Path(src).name, 0, str(error))]
    several = [f"{name}: head {head}" for name, head in heads.items() if name]
    return ImportReport(
        format=format,
        source=str(src),
        run=str(out),
        ok=not bad,
        counts=counts([event for one in imported.values() for event in one.events]),
        bad_lines=bad,
        mapped_ids=[mapped for one in imported.values() for mapped in one.mapped],
        status_differences=[found for one in imported.values() for found in one.differences],
        notes=[*several, *(note for one in imported.values() for note in one.notes)],
        head=next(reversed(heads.values())) if heads else None,
    )


def _written(
    imported: Mapping[str, Imported], out: Path, write: Callable[[Imported, Path], str], sync: bool
) -> dict[str, str]:
    """Name → head of the runs that were made: one at `out`, or several in it, which appear at once."""
    if set(imported) == {""}:
        return {"": write(imported[""], out)}
    with writing(out):
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise NotEmpty("there is something already", str(out), "choose a new or an empty directory")
        out.parent.mkdir(parents=True, exist_ok=True)
        with staged(out, disk=Disk(sync)) as staging:
            return {name: write(one, staging / name) for name, one in imported.items()}


def _write(
    imported: Imported,
    out: Path,
    at: str,
    sync: bool,
    screened: Callable[[Sequence[Event]], tuple[Event, ...]],
) -> str:
    opening, *others = imported.events
    others = [*screened(imported.events), *others]
    assert isinstance(opening, RunOpened), "an import begins with run_opened"
    return create_run(out, opening, others, blobs=imported.blobs, at=at, sync=sync).head().hash
