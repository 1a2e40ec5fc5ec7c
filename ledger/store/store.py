"""Run on disk: created, read and appended to (FORMAT 8). Readers take no lock and repair nothing.

run = create_run(path, opening, blobs={…}, at=now)
with run.writer() as writer:                    # lock, recovery
    book = writer.book()                        # current events, under the lock
    events = writer.commit(drafts, at=now)      # on the disk when it returns
"""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ledger.events import STREAMS, Event, RunOpened, StreamName
from ledger.format.canonical import Head, Sealed, seal
from ledger.state.book import Book
from ledger.state.fold import fold
from ledger.state.state import State
from ledger.store import disk
from ledger.store.blobs import BlobStore, in_order
from ledger.store.commit import Recovery, acknowledge, append, create, recover
from ledger.store.disk import refuse_link, write_failed, writing
from ledger.store.failures import refuse, unopened
from ledger.store.lock import WAIT_SECONDS, locked
from ledger.store.reading import LogPosition, LogReader, decoded, follow, without_collecting
from ledger.store.streams import QUARANTINE, path_in, read_head


class RunStore:
    """Run directory. Creating the object touches nothing; what was read is kept, and only more is read later."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Final = Path(path)
        self.blobs: Final = BlobStore(self.path)
        self._reading = LogReader(self.path, self.blobs)

    def head(self) -> Head:
        """Return the last commit. Raises `NotARun` or `Damaged`."""
        return read_head(self.path)

    def events(self) -> tuple[Event, ...]:
        """Return all events up to the head. Raises `NotARun`, `Damaged` or `OtherFormat`."""
        return self.read()[0]

    def book(self) -> Book:
        """Return all events with their folded state; the same object until something is committed.

        Raises what `events` raises, and `StrangeRun`.
        """
        current = self.raw_book()
        refuse(unopened(current.state), self.path)
        return current

    def raw_book(self) -> Book:
        """Return the same for callers that judge the events, which may not form a run."""
        with self._reading.lock:
            self._reading.catch_up()
            return self._reading.book()

    def read(self) -> tuple[tuple[Event, ...], LogPosition]:
        """Return all events up to the head, and the position after them. Raises what `events` raises."""
        with self._reading.lock:
            self._reading.catch_up()
            return self._reading.events, self._reading.position

    def stream(self) -> Iterator[Event]:
        """Return all events up to the head, one at a time, in constant memory. Raises what `events` raises."""
        return decoded(self.path, LogPosition(), read_head(self.path))

    def state(self) -> State:
        """Return the folded state. No event is kept, so this is for runs too long for `book`. Raises `StrangeRun`."""
        with without_collecting():
            folded = fold(self.stream())
        refuse(unopened(folded), self.path)
        return folded

    def lines(self) -> Iterator[tuple[StreamName, int, bytes]]:
        """Yield stream, line number from 1 and line of every event up to the head; only the chain is checked."""
        numbers = [0] * len(STREAMS)
        for index, line, _ in follow(self.path, LogPosition(), read_head(self.path)):
            numbers[index] += 1
            yield STREAMS[index], numbers[index], line

    @contextmanager
    def writer(self, wait_seconds: float = WAIT_SECONDS) -> Generator[Writer]:
        """Take the lock, settle what a dead writer left, and yield a writer.

        Raises `LockTimeout`, and what `events` raises.
        """
        if not os.access(path_in(self.path, "head"), os.F_OK):  # a directory that is no run gets no lock file
            read_head(self.path)
        reading = self._reading
        with locked(self.path, wait_seconds), reading.lock:
            reading.catch_up()
            position = reading.position.copy()
            recovered = recover(self.path, position, self.blobs)
            reading.extend(position, recovered.kept)
            yield Writer(self.path, reading, self.blobs, recovered)


class Writer:
    """Holder of the lock. `recovered` lists what a dead writer had left."""

    def __init__(self, directory: Path, reading: LogReader, blobs: BlobStore, recovered: Recovery) -> None:
        self.recovered: Final = recovered
        self._directory = directory
        self._reading = reading
        self._blobs = blobs
        self._broken = False

    def book(self) -> Book:
        """Return the current book, under the lock, own commits included."""
        return self._reading.book()

    def commit(
        self, drafts: Sequence[Event], *, at: str, blobs: Mapping[str, bytes] | None = None
    ) -> tuple[Event, ...]:
        """Append `drafts` as one commit, with the blobs that they name. Return the events as they were written.

        Everything is on the disk when this returns; no drafts, nothing is written. Raises `NotCanonical`
        before anything is written when a draft is no lawful event, and `WriteFailed` when the file system
        refuses: then nothing was acknowledged, and this writer writes no more.
        """
        assert not self._broken, "this writer failed before: take the lock again, which settles what is left"
        if not drafts:
            return ()
        position = self._reading.position
        sealed = seal(drafts, prev=position.head.hash, seq=position.head.seq + 1, at=at)
        lines = self._blobs.new_lines(in_order(blobs, sealed.events)) if blobs else b""
        # Set before the first byte is written: after any failure the files may hold half a commit, which only
        # recovery settles.
        self._broken = True
        try:
            after = append(self._directory, sealed, lines, position)
            acknowledge(self._directory, position, after)
        except OSError as error:
            raise write_failed(error, self._directory) from error
        # The reader learns of the commit only once the head names it.
        self._reading.extend(after, sealed.events)
        self._broken = False
        return sealed.events

    def redact(self, hashes: Collection[str]) -> None:
        """Put tombstones in place of blobs that a recorded redaction names, and remove quarantined blob tails.

        Such a tail was never acknowledged, and may hold the same words. Raises `WriteFailed`.
        """
        self._blobs.remove(hashes)
        quarantine = self._directory / QUARANTINE
        with writing(quarantine):
            refuse_link(quarantine)
            tails = list(quarantine.glob("blobs.*"))
            for tail in tails:
                tail.unlink()
            if tails:
                disk.settle(quarantine)


def create_run(
    path: str | os.PathLike[str],
    opening: RunOpened,
    extra: Sequence[Event] = (),
    *,
    blobs: Mapping[str, bytes],
    at: str,
    files: Mapping[str, bytes] | None = None,
) -> RunStore:
    """Make a run whose first commit is `opening` and `extra`; `files` are written beside the ledger.

    A directory without a commit is not a run and is used again. Raises `AlreadyARun`, `NotCanonical`,
    `WriteFailed`, and `Damaged` for a directory that holds commits without a head.
    """
    create(Path(path), seal([opening, *extra], prev="0" * 64, seq=0, at=at), blobs, files or {})
    return RunStore(path)


def adopt_run(
    path: str | os.PathLike[str],
    sealed: Sealed,
    *,
    blobs: Mapping[str, bytes],
    files: Mapping[str, bytes] | None = None,
) -> RunStore:
    """Create a run that begins with lines of another one, unchanged. Raises what `create_run` raises."""
    create(Path(path), sealed, blobs, files or {})
    return RunStore(path)
