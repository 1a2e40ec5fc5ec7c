"""Writing: append a commit, make a run with its first one, settle what a dead writer left (FORMAT 8).

A commit goes to its streams, then to the head, each step durable before the next. Of the bytes beyond the head, a whole
commit was not acknowledged but is kept, and the head moves on; everything else goes to quarantine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from ledger.events import STREAMS, Event, stream_of
from ledger.events.values import SAFE_INTEGER
from ledger.format.canonical import NotCanonical, OtherVersion, decode
from ledger.format.chain import Head, Sealed
from ledger.store.blobs import BlobStore
from ledger.store.disk import Disk, plain_file, readable, refuse_link, staged, writing
from ledger.store.failures import Damaged, LedgerError, NotARun, OtherFormat
from ledger.store.lock import locked
from ledger.store.reading import LogPosition, merged
from ledger.store.streams import OPENING, head_bytes, read_head, stream_path


def append(directory: Path, sealed: Sealed, mark: LogPosition, disk: Disk) -> LogPosition:
    """Write a commit behind `mark`, streams before head, every step durable; the place behind it.

    Raises `OSError`. What is then behind the old head was not acknowledged: the next writer settles it.
    """
    batches: dict[int, list[bytes]] = {}
    for event, line in zip(sealed.events, sealed.lines, strict=True):
        batches.setdefault(STREAMS.index(stream_of(event)), []).append(line)
    after = LogPosition(sealed.head, [*mark.offsets])
    for index, lines in sorted(batches.items()):
        content = b"".join(line + b"\n" for line in lines)
        disk.append(stream_path(directory, STREAMS[index]), content, mark.offsets[index])
        after.offsets[index] += len(content)
    disk.replace(directory / "head", head_bytes(sealed.head))
    disk.settle(directory)
    return after


_ENDLESS: Final = Head(SAFE_INTEGER, "")


class Recovery(msgspec.Struct, frozen=True):
    """What was found beyond the head: events of whole commits, now kept, and files in `quarantine/`."""

    kept: tuple[Event, ...] = ()
    quarantined: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kept or self.quarantined)


def recover(directory: Path, mark: LogPosition, disk: Disk) -> Recovery:
    """Settle the tails behind `mark`, which stands at the head; it moves behind what is kept."""
    tails = [_tail(stream_path(directory, stream), mark.offsets[i]) for i, stream in enumerate(STREAMS)]
    with writing(directory):
        _settle_cuts(directory, mark, disk)
    if not any(tails):
        return Recovery()
    kept: list[Event] = []
    before = mark.copy()
    for events, lines in _whole_commits(directory, tails, mark.copy()):
        kept += events
        for index, line in lines:
            mark.offsets[index] += len(line) + 1
        mark.head = Head(events[-1].seq, sha256(lines[-1][1]).hexdigest())
    with writing(directory):
        if kept:
            _write_again(directory, tails, before, mark, disk)
            disk.replace(directory / "head", head_bytes(mark.head))
            disk.settle(directory)
        names = _set_aside_tails(directory, mark, disk)
    return Recovery(tuple(kept), names)


def _write_again(
    directory: Path, tails: list[bytes], before: LogPosition, after: LogPosition, disk: Disk
) -> None:
    """Make what is kept durable. The dead writer's sync may have failed, and then another one proves nothing: the
    kernel may hold as clean what the disk never got. So the bytes are written once more."""
    for index, stream in enumerate(STREAMS):
        content = tails[index][: after.offsets[index] - before.offsets[index]]
        if content:
            disk.write_at(stream_path(directory, stream), content, before.offsets[index])


def _tail(path: Path, offset: int) -> bytes:
    with readable(path), plain_file(path) as file:
        file.seek(offset)
        return file.read()


def _whole_commits(
    directory: Path, tails: list[bytes], mark: LogPosition
) -> Iterator[tuple[list[Event], list[tuple[int, bytes]]]]:
    """The events and (stream index, line) pairs of each commit that continues the chain behind `mark`."""
    events: list[Event] = []
    lines: list[tuple[int, bytes]] = []
    files: list[BinaryIO] = [BytesIO(tail) for tail in tails]
    try:
        for index, line, _ in merged(str(directory), files, mark, _ENDLESS):
            event = decode(line)
            if stream_of(event) != STREAMS[index]:
                return
            events.append(event)
            lines.append((index, line))
            if event.rest == 0:
                yield events, lines
                events, lines = [], []
    except OtherVersion as error:
        raise OtherFormat.of(error.version, str(directory)) from None
    except (Damaged, NotCanonical):
        return  # here the whole commits end


def _set_aside_tails(directory: Path, mark: LogPosition, disk: Disk) -> tuple[str, ...]:
    names: list[str] = []
    for index, stream in enumerate(STREAMS):
        path, offset = stream_path(directory, stream), mark.offsets[index]
        tail = _tail(path, offset)
        if not tail:
            continue
        name = f"{stream}.{offset}.{sha256(tail).hexdigest()[:8]}"
        quarantine = directory / "quarantine"
        refuse_link(quarantine)
        quarantine.mkdir(exist_ok=True)
        disk.replace(quarantine / name, tail)
        disk.settle(quarantine)
        disk.settle(directory)
        disk.truncate(path, offset)
        names.append(name)
    return tuple(names)


def _settle_cuts(directory: Path, mark: LogPosition, disk: Disk) -> None:
    """Sync streams that end where a tail was cut off: the one who cut may have died or failed before it was durable,
    and an old tail that came back behind new lines would be damage."""
    quarantine = directory / "quarantine"
    if not quarantine.is_dir():
        return
    names = os.listdir(quarantine)
    for stream, offset in zip(STREAMS, mark.offsets, strict=True):
        if any(name.startswith(f"{stream}.{offset}.") for name in names):
            disk.settle(stream_path(directory, stream))


def set_aside_everything(directory: Path, disk: Disk) -> tuple[str, ...]:
    """Empty the streams of a directory that never held a commit, so that a run can begin there."""
    for stream in STREAMS:
        disk.make(stream_path(directory, stream))
    return _set_aside_tails(directory, LogPosition(), disk)


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
        with locked(path):
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
    append(directory, sealed, LogPosition(), disk)
