"""A new run: streams, blobs and files appear together with the first commit (FORMAT 8)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Final

from ledger.events import STREAMS
from ledger.format.chain import Sealed
from ledger.store.appending import append
from ledger.store.blobs import BlobStore
from ledger.store.disk import Disk, refuse_link, staged, writing
from ledger.store.failures import LedgerError, NotARun
from ledger.store.following import Mark
from ledger.store.lock import locked
from ledger.store.recovery import set_aside_everything
from ledger.store.streams import OPENING, read_head, stream_path

WAIT_SECONDS: Final = 5.0


class AlreadyARun(LedgerError):
    """A run was to be created where one is."""

    exit_code = 2

    def __init__(self, path: Path) -> None:
        fix = "choose another directory, or go on with `moot run --resume`"
        super().__init__("there is a run already", str(path), fix)


def create(
    path: Path, sealed: Sealed, blobs: Mapping[str, bytes], files: Mapping[str, bytes], disk: Disk
) -> None:
    """Make the run at `path` with `sealed` as its first commit."""
    path = path.resolve()
    _refuse_a_run(path)
    with writing(path):
        is_there = path.exists()
    if is_there:
        with locked(path, WAIT_SECONDS):
            _refuse_a_run(path)
            with writing(path):
                _fill_in_place(path, sealed, blobs, files, disk)
    else:
        with writing(path):
            _make_durably(path.parent, disk)
            _appear(path, sealed, blobs, files, disk)


def _refuse_a_run(path: Path) -> None:
    """Whatever is at `path` must hold no commit. Raises `AlreadyARun` or `Damaged`."""
    try:
        read_head(path)
    except NotARun:
        return
    raise AlreadyARun(path)


def _make_durably(directory: Path, disk: Disk) -> None:
    """Make `directory` and those above it that are missing; each is in the one above it after a power failure."""
    missing = list(takewhile(lambda one: not one.exists(), (directory, *directory.parents)))
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
        disk.settle(one.parent)


def _appear(
    path: Path, sealed: Sealed, blobs: Mapping[str, bytes], files: Mapping[str, bytes], disk: Disk
) -> None:
    """No instant shows half a run."""
    try:
        with staged(path, disk=disk) as staging:
            _fill(staging, sealed, blobs, files, disk)
    except OSError as error:
        if path.exists():
            raise AlreadyARun(path) from error
        raise


def _fill_in_place(
    path: Path, sealed: Sealed, blobs: Mapping[str, bytes], files: Mapping[str, bytes], disk: Disk
) -> None:
    """Fill a directory that is there; a file in it says until the end that it is no run yet."""
    sign = path / OPENING
    disk.make(sign)
    disk.settle(path)
    set_aside_everything(path, disk)
    _fill(path, sealed, blobs, files, disk)
    sign.unlink()
    disk.settle(path)


def _fill(
    directory: Path, sealed: Sealed, blobs: Mapping[str, bytes], files: Mapping[str, bytes], disk: Disk
) -> None:
    refuse_link(directory / "blobs")
    (directory / "blobs").mkdir(exist_ok=True)
    for name, content in files.items():
        disk.replace(directory / name, content)
    for stream in STREAMS:
        disk.make(stream_path(directory, stream))
    disk.settle(directory)
    BlobStore(directory / "blobs", sync=disk.sync).write_all(blobs)
    append(directory, sealed, Mark(), disk)
