"""The files of a state directory on the disk: the rows, the artifacts, the round files, and what evidence names.

<src>/claims.jsonl …  with <src>/artifacts and <src>/rounds     (one directory), or
<src>/state/claims.jsonl …  with them beside `state`            (the published layout; <src>/state may be named itself)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from ledger.interchange.skill_lines import FILE_BYTES_MAX, read_rows
from ledger.interchange.skill_rows import FILES, PUBLISHED, DecisionRow, VerificationRow
from ledger.store.disk import read_plain
from ledger.store.failures import LedgerError

DOCUMENT_FOLDERS: Final = ("artifacts", "rounds")
DOCUMENTS_MAX: Final = 2_000
"""Documents are listed in one line of the ledger, which has at most 1 MiB."""


class NotAStateDirectory(LedgerError):
    """The source of an import holds none of the files that a state directory has, or one that cannot be read."""

    exit_code = 2


def read_directory(src: Path) -> dict[str, bytes]:
    """The files of `src` by name, for `read_skill`. Raises `NotAStateDirectory`."""
    state, root = _layout(src)
    files = {name: _rows(state / name, root) for name in FILES if (state / name).is_file()}
    paths = sorted({*_below(root), *_named(files)})
    documents = {path: root / path for path in paths if _is_inside(root, path)}
    if len(documents) > DOCUMENTS_MAX:
        raise NotAStateDirectory(
            f"{len(documents)} documents are more than {DOCUMENTS_MAX}", str(root), "import fewer at a time"
        )
    return files | {path: _bounded(place) for path, place in documents.items()}


def _layout(src: Path) -> tuple[Path, Path]:
    """Where the rows are, and from where evidence refs count (SD-49: the parent of `state`)."""
    for state in (src, src / "state"):
        if any((state / name).is_file() for name in PUBLISHED):
            return state, state.absolute().parent if state.absolute().name == "state" else state
    fix = f"name a directory that holds {', '.join(PUBLISHED)}, or the one above `state`"
    raise NotAStateDirectory("no state directory here", str(src), fix)


def _below(root: Path) -> Iterator[str]:
    for folder in DOCUMENT_FOLDERS:
        if not (root / folder).resolve().is_relative_to(root.resolve()):
            continue  # a link to somewhere else: nothing there is this directory's, and it may be the whole disk
        for place, _, names in os.walk(root / folder):
            for name in names:
                yield (Path(place) / name).relative_to(root).as_posix()


def _named(files: Mapping[str, bytes]) -> Iterator[str]:
    """The file parts of all refs, as the published check looks them up."""
    rows = read_rows(files)
    for _, row in rows.of("verifications.jsonl", VerificationRow):
        refs = row.evidence_refs or ()
        for ref in (refs,) if isinstance(refs, str) else refs:
            yield _file_part(ref)
    for _, decision in rows.of("decisions.jsonl", DecisionRow):
        refs = decision.round_artifact_refs or ()
        for ref in refs:
            yield _file_part(ref)


def _file_part(ref: str) -> str:
    return ref.partition("#")[0].strip().removeprefix("./")


def _is_inside(root: Path, path: str) -> bool:
    """Whether `path` names a plain file of this directory: nothing above it, no link out of it, no row file."""
    parts = PurePosixPath(path)
    if not path or parts.is_absolute() or ".." in parts.parts or parts.as_posix() != path or path in FILES:
        return False
    try:
        place = (root / path).resolve()
        return place.is_file() and place.is_relative_to(root.resolve())
    except (OSError, ValueError):  # a name that no file can have
        return False


def _rows(path: Path, root: Path) -> bytes:
    if not path.resolve().is_relative_to(root.resolve()):
        raise NotAStateDirectory("a link that leads outside", str(path), "put the file itself there")
    return _bounded(path)


def _bounded(path: Path) -> bytes:
    try:
        return read_plain(path, FILE_BYTES_MAX)
    except OSError as error:
        raise NotAStateDirectory(
            f"cannot be read: {error.strerror}", str(path), "give a plain file, with read permission"
        ) from error
