"""What remains: where words stand in a run, event by event, blob by blob and file by file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from ledger.events import STREAMS
from ledger.redaction.words import Sought
from ledger.store.disk import plain_file, readable
from ledger.store.store import RunStore

FILE: Final = "deliberation.toml"
"""The one file beside the ledger that a run keeps for itself, and that words can be taken out of."""
NAMED_MAX: Final = 12
"""Places that a message names; of more it says how many."""


class Remains(NamedTuple):
    """Numbers of events, hashes of blobs, and names of other files in the run's directory."""

    events: tuple[int, ...]
    blobs: tuple[str, ...]
    files: tuple[str, ...]

    def places(self) -> tuple[str, ...]:
        """Each place as a person looks it up: `@17`, `blobs/048a…`, `report.html`."""
        return (
            *(f"@{seq}" for seq in self.events),
            *(f"blobs/{sha256}" for sha256 in self.blobs),
            *self.files,
        )


def remains(run: RunStore, sought: Sought) -> Remains:
    """Where the words stand in a run; nothing is changed. Raises what reading a run raises."""
    lines = enumerate(line for _, _, line in run.lines())
    blobs = ((sha256, run.blobs.read(sha256) or b"") for sha256 in run.blobs.names())
    return Remains(
        tuple(seq for seq, line in lines if sought.stand_in_bytes(line)),
        tuple(sha256 for sha256, content in blobs if sought.stand_in_bytes(content)),
        tuple(_files(run.path, sought)),
    )


def in_words(places: tuple[str, ...]) -> str:
    """Places in a sentence."""
    more = f" and {len(places) - NAMED_MAX} more places" if len(places) > NAMED_MAX else ""
    return f"{', '.join(places[:NAMED_MAX])}{more}"


def _files(run: Path, sought: Sought) -> Iterator[str]:
    """Files that are neither a stream nor a blob: reports, notes, what recovery set aside, what a crash left."""
    with readable(run):
        for directory, _, names in sorted(os.walk(run)):
            for name in sorted(names):
                path = Path(directory) / name
                if path.is_symlink() or not path.is_file() or _is_read_as_what_it_is(path, run):
                    continue
                if sought.stand_in_name(name) or sought.stand_in_bytes(_content(path)):
                    yield str(path.relative_to(run))


def _is_read_as_what_it_is(path: Path, run: Path) -> bool:
    if path.parent == run:
        return path.stem in STREAMS and path.suffix == ".jsonl"
    return path.parent == run / "blobs" and len(path.name) == 64


def _content(path: Path) -> bytes:
    try:
        with plain_file(path) as file:
            return file.read()
    except FileNotFoundError:
        return b""  # gone since it was listed
