"""Writing: append a commit, create a run with its first one, settle what a dead writer left (FORMAT 8).

A commit is one or more events that are written together; `rest` of an event counts those of its commit that follow.
The file `head` names the last event that was acknowledged to the caller. A `position` is a place in all files at once:
the head, and the length of each stream and of the blobs up to it. "Durable" means synced: a power failure leaves it
there.

A commit goes to its blobs, its streams, then to the head, each step durable before the next. A dead writer may leave
bytes beyond the head, which no caller was told of. The next writer settles them: it keeps whole commits and moves the
head past them, and sets other bytes aside in `quarantine/`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from ledger.events import STREAMS, Event, stream_of
from ledger.events.envelope import SAFE_INTEGER
from ledger.format.canonical import Head, NotCanonical, OtherVersion, Sealed, decode
from ledger.state.book import grouped
from ledger.store import disk
from ledger.store.blobs import BlobStore, are_new_lines, in_order
from ledger.store.disk import plain_file, readable, real, refuse_link, staged, writing
from ledger.store.failures import Damaged, LedgerError, NotARun, OtherFormat, Problem
from ledger.store.lock import locked
from ledger.store.reading import LogPosition, merged
from ledger.store.streams import (
    BLOBS,
    OPENING,
    QUARANTINE,
    head_bytes,
    path_in,
    read_head,
)


def append(directory: Path, sealed: Sealed, blobs: bytes, position: LogPosition) -> LogPosition:
    """Write a commit after `position`: the lines of its blobs, then its events, every file durable before the next.

    Return the place after it, which `acknowledge` puts into the head. Raises `OSError`, and then the next writer
    settles what was written.
    """
    after = LogPosition(sealed.head, [*position.offsets], position.blobs + len(blobs))
    files = _files(directory, position)
    if blobs:  # durable first: an event that is on the disk names no blob that is not
        disk.append(files[-1][0], blobs, position.blobs)
    batches = grouped(
        (STREAMS.index(stream_of(event)), line)
        for event, line in zip(sealed.events, sealed.lines, strict=True)
    )
    # One sync per file, whatever the order: a commit of blobs and two streams takes four, with the head. Without the
    # head's, several commits could lie beyond it after a power failure. Readers, who repair nothing, would not see
    # them, and torn blobs of the last one would take the acknowledged ones before it into quarantine. A log written
    # ahead of the streams would be one file more.
    # A crash between two streams leaves a gap in seq, or `rest` above 0 at the end. Recovery recognizes the
    # torn commit by either.
    for index, lines in sorted(batches.items()):
        content = b"".join(line + b"\n" for line in lines)
        disk.append(files[index][0], content, position.offsets[index])
        after.offsets[index] += len(content)
    return after


def acknowledge(directory: Path, before: LogPosition, position: LogPosition) -> None:
    """Move the head of a run from `before` to `position`, durably.

    The head is written in place, not to another file that is renamed: that would cost a second sync, for the
    directory, and a new inode per commit. In place is safe because the file never changes its length and lies within
    one sector of 512 bytes, which a disk writes whole or not at all. PostgreSQL keeps its control file in this way.
    A reader that meets the write reads again (`read_acknowledged`).
    """
    head = path_in(directory, "head")
    try:
        disk.write_at(head, head_bytes(position.head, position.blobs), 0)
    except OSError:
        # The kernel may show the new head although the disk never got it. With the old one back, the next writer
        # finds the commit beyond it and writes both again.
        with suppress(OSError):
            disk.write_at(head, head_bytes(before.head, before.blobs), 0)
        raise


_ENDLESS: Final = Head(SAFE_INTEGER, "")


class Recovery(msgspec.Struct, frozen=True):
    """Result of recovery beyond the head: events of whole commits, now kept, and files in `quarantine/`."""

    kept: tuple[Event, ...] = ()
    quarantined: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kept or self.quarantined)


def recover(directory: Path, position: LogPosition, blobs: BlobStore) -> Recovery:
    """Settle what lies beyond the head, which is at `position`, and advance `position` past what was kept."""
    files = _files(directory, position)
    with readable(directory):
        tails = _tails(files)
        set_aside = _quarantined(directory)
    # A creation that was killed after its head leaves its marker, which would make a later loss of the head look like
    # a run that was never opened.
    if os.access(path_in(directory, OPENING), os.F_OK):
        with suppress(OSError):
            os.unlink(directory / OPENING)
    if set_aside:
        with writing(directory):
            _settle_cuts(files, set_aside)
    if not any(tails):
        return Recovery()
    kept: list[Event] = []
    # Recovery works on a copy. If a write fails halfway, `position` still names the acknowledged head and the next
    # writer starts over.
    after = position.copy()
    # Blobs are durable before the first event is written. Where their lines are torn, no commit can be whole.
    if are_new_lines(tails[-1], blobs):
        for events, lines in _whole_commits(directory, tails[:-1], position.copy()):
            kept += events
            for index, line in lines:
                after.offsets[index] += len(line) + 1
            after.head = Head(events[-1].seq, sha256(lines[-1][1]).hexdigest())
    with writing(directory):
        if kept:
            after.blobs += len(tails[-1])
            _write_again(files, tails, _files(directory, after))
            acknowledge(directory, position, after)
        position.head, position.offsets, position.blobs = after.head, after.offsets, after.blobs
        names = _set_aside_tails(directory, position)
    return Recovery(tuple(kept), names)


def _files(directory: Path, position: LogPosition) -> list[tuple[str, int]]:
    """Return the files that commits append to, and where each ends at `position`."""
    where = str(directory)
    return [
        (f"{where}/{name}", offset)
        for name, offset in zip(_NAMES, (*position.offsets, position.blobs), strict=True)
    ]


_NAMES: Final = (*(f"{stream}.jsonl" for stream in STREAMS), BLOBS)


def _write_again(before: list[tuple[str, int]], tails: list[bytes], after: list[tuple[str, int]]) -> None:
    """Make what is kept durable by writing it again.

    The dead writer's sync may have failed, and then another sync proves nothing: the kernel may hold as clean what
    the disk never got.
    """
    for (path, begin), tail, (_, end) in zip(before, tails, after, strict=True):
        if end > begin:
            disk.write_at(path, tail[: end - begin], begin)


def _tails(files: list[tuple[str, int]]) -> list[bytes]:
    """Return what lies beyond each file's offset, mostly nothing. Raises `Damaged` when a file is shorter."""
    return [
        _tail(path, offset, size) if (size := os.stat(path).st_size) != offset else b""
        for path, offset in files
    ]


def _tail(path: str, offset: int, size: int) -> bytes:
    if size < offset:
        directory, name = os.path.split(path)
        what = f"{name} ends at byte {size}, before the {offset} bytes that head acknowledges"
        raise Damaged((Problem(what),), directory)
    with plain_file(path) as file:
        file.seek(offset)
        return file.read()


def _whole_commits(
    directory: Path, tails: list[bytes], position: LogPosition
) -> Iterator[tuple[list[Event], list[tuple[int, bytes]]]]:
    """Yield the events and (stream index, line) pairs of each commit that continues the chain after `position`."""
    events: list[Event] = []
    lines: list[tuple[int, bytes]] = []
    files: list[BinaryIO] = [BytesIO(tail) for tail in tails]
    try:
        for index, line, _ in merged(str(directory), files, position, _ENDLESS):
            # The chain alone is not enough: bytes that no reader accepts must not be acknowledged by recovery.
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


def _set_aside_tails(directory: Path, position: LogPosition) -> tuple[str, ...]:
    names: list[str] = []
    files = _files(directory, position)
    with readable(directory):
        tails = _tails(files)
    for (path, offset), tail in zip(files, tails, strict=True):
        if not tail:
            continue
        # The name carries the offset, which `_settle_cuts` reads, and a hash, so that the same tail set aside
        # twice gives one file.
        name = f"{Path(path).stem}.{offset}.{sha256(tail).hexdigest()[:8]}"
        quarantine = directory / QUARANTINE
        # A link in place of the directory would make recovery write outside the run.
        refuse_link(quarantine)
        quarantine.mkdir(exist_ok=True)
        disk.replace(quarantine / name, (tail,))
        disk.settle(quarantine)
        disk.settle(directory)
        # The cut comes last: the tail is durable in quarantine before it leaves the stream.
        disk.truncate(path, offset)
        names.append(name)
    return tuple(names)


def _quarantined(directory: Path) -> list[str]:
    try:
        return os.listdir(path_in(directory, QUARANTINE))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _settle_cuts(files: list[tuple[str, int]], names: list[str]) -> None:
    """Sync files that end where a tail was cut off.

    The process that cut may have died before the cut was durable. An old tail that came back after new lines would be
    damage.
    """
    for path, offset in files:
        if any(name.startswith(f"{Path(path).stem}.{offset}.") for name in names):
            disk.settle(path)


def set_aside_everything(directory: Path) -> tuple[str, ...]:
    """Empty the files of a directory that never held a commit, so that a run can begin there."""
    for path, _ in _files(directory, LogPosition()):
        disk.make(path)
    return _set_aside_tails(directory, LogPosition())


class AlreadyARun(LedgerError):
    """A run was to be created where one is."""

    exit_code = 2

    def __init__(self, path: Path) -> None:
        fix = "choose another directory, or go on with `moot run --resume`"
        super().__init__("there is a run already", str(path), fix)


def create(path: Path, sealed: Sealed, blobs: Mapping[str, bytes], files: Mapping[str, bytes]) -> None:
    """Make the run at `path` with `sealed` as its first commit."""
    path = real(path)
    _refuse_a_run(path)
    with writing(path):
        if path.exists():
            # Two processes may create a run in the same empty directory. The second one finds the first one's head
            # under the lock.
            with locked(path):
                _refuse_a_run(path)
                _fill_in_place(path, sealed, blobs, files)
        else:
            _make_durably(path.parent)
            _appear(path, sealed, blobs, files)


def _refuse_a_run(path: Path) -> None:
    """Raise `AlreadyARun` or `Damaged` when `path` holds a commit."""
    try:
        read_head(path)
    except NotARun:
        return
    raise AlreadyARun(path)


def _make_durably(directory: Path) -> None:
    """Create `directory` and its missing parents, each durable in the directory above it."""
    missing = list(takewhile(lambda folder: not folder.exists(), (directory, *directory.parents)))
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        disk.settle(folder.parent)


def _appear(path: Path, sealed: Sealed, blobs: Mapping[str, bytes], files: Mapping[str, bytes]) -> None:
    """Create a run in a hidden directory and rename it, so that half a run is never visible."""
    try:
        with staged(path) as staging:
            _fill(staging, sealed, blobs, files)
    except OSError as error:
        # Another process has renamed its own run into place first. With any other error what is there is ours.
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR) and path.exists():
            raise AlreadyARun(path) from error
        raise


def _fill_in_place(
    path: Path, sealed: Sealed, blobs: Mapping[str, bytes], files: Mapping[str, bytes]
) -> None:
    """Fill an existing directory. Until the end, a marker file says that it is not a run yet."""
    sign = path / OPENING
    disk.make(sign)
    disk.settle(path)
    # Streams without a head are left over from a creation that crashed. They move to quarantine instead of
    # being overwritten.
    set_aside_everything(path)
    _fill(path, sealed, blobs, files)
    sign.unlink()
    disk.settle(path)


def _fill(directory: Path, sealed: Sealed, blobs: Mapping[str, bytes], files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        disk.replace(directory / name, (content,))
    for path, _ in _files(directory, LogPosition()):
        disk.make(path)
    disk.settle(directory)
    lines = BlobStore(directory).new_lines(in_order(blobs, sealed.events))
    position = append(directory, sealed, lines, LogPosition())
    # The first head comes by a rename: a directory with half a head would be damage, one without is no run yet.
    disk.replace(directory / "head", (head_bytes(position.head, position.blobs),))
    disk.settle(directory)
