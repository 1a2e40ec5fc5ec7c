"""Recovery: what a writer does with bytes beyond the head that a process left when it died (FORMAT 8).

A whole commit was not acknowledged but is kept, and the head moves on; everything else goes to quarantine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from ledger.events import STREAMS, Event, stream_of
from ledger.events.values import SAFE_INTEGER
from ledger.format.canonical import NewerVersion, NotCanonical, decode
from ledger.format.chain import Head
from ledger.store.disk import Disk, plain_file, readable, refuse_link, writing
from ledger.store.failures import Damaged, NewerFormat
from ledger.store.following import Mark, merged
from ledger.store.streams import head_bytes, stream_path

_ENDLESS: Final = Head(SAFE_INTEGER, "")


class Recovery(msgspec.Struct, frozen=True):
    """What was found beyond the head: events of whole commits, now kept, and files in `quarantine/`."""

    kept: tuple[Event, ...] = ()
    quarantined: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kept or self.quarantined)


def recover(directory: Path, mark: Mark, disk: Disk) -> Recovery:
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


def _write_again(directory: Path, tails: list[bytes], before: Mark, after: Mark, disk: Disk) -> None:
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
    directory: Path, tails: list[bytes], mark: Mark
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
    except NewerVersion as error:
        fix = f"install a moot that knows format version {error.version}"
        raise NewerFormat("a newer moot was writing to this run", str(directory), fix) from None
    except (Damaged, NotCanonical):
        return  # here the whole commits end


def _set_aside_tails(directory: Path, mark: Mark, disk: Disk) -> tuple[str, ...]:
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


def _settle_cuts(directory: Path, mark: Mark, disk: Disk) -> None:
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
    return _set_aside_tails(directory, Mark(), disk)
