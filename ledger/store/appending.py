"""Appending: a commit goes to its streams, then to the head, each step durable before the next (FORMAT 8)."""

from __future__ import annotations

from pathlib import Path

from ledger.events import STREAMS, stream_of
from ledger.format.chain import Sealed
from ledger.store.disk import Disk
from ledger.store.following import Mark
from ledger.store.streams import head_bytes, stream_path


def append(directory: Path, sealed: Sealed, mark: Mark, disk: Disk) -> Mark:
    """Write a commit behind `mark`, streams before head, every step durable; the place behind it.

    Raises `OSError`. What is then behind the old head was not acknowledged: the next writer settles it.
    """
    batches: dict[int, list[bytes]] = {}
    for event, line in zip(sealed.events, sealed.lines, strict=True):
        batches.setdefault(STREAMS.index(stream_of(event)), []).append(line)
    after = Mark(sealed.head, [*mark.offsets])
    for index, lines in sorted(batches.items()):
        content = b"".join(line + b"\n" for line in lines)
        disk.append(stream_path(directory, STREAMS[index]), content, mark.offsets[index])
        after.offsets[index] += len(content)
    disk.replace(directory / "head", head_bytes(sealed.head))
    disk.settle(directory)
    return after
