"""Durable writes: a file's bytes and its directory entry are on the disk before the call returns."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ledger.failures import Unreadable, WriteFailed


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Turn what the file system refuses into `WriteFailed`."""
    try:
        yield
    except OSError as error:
        what = error.strerror or str(error)
        mend = "free some space or mend the permissions, then do it again: nothing was acknowledged"
        raise WriteFailed(f"cannot write: {what}", str(error.filename or path), mend) from error


@contextmanager
def readable(path: Path) -> Generator[None]:
    """Turn what the file system refuses, other than that a file is not there, into `Unreadable`."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise unreadable(error, path) from error


def unreadable(error: OSError, path: Path) -> Unreadable:
    """The words for what the file system refused to read."""
    what = f"cannot read: {error.strerror or error}"
    return Unreadable(what, str(error.filename or path), "mend the permissions, or the disk")


def write_fully(descriptor: int, content: bytes) -> None:
    """All of `content`; the kernel may take it in parts."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


class Disk(msgspec.Struct, frozen=True):
    """The write operations of the store. Without `sync` nothing survives a power failure: for tests only."""

    sync: bool = True

    def replace(self, path: Path, content: bytes, temporary: Path | None = None) -> None:
        """Put `content` at `path` at once or not at all; the directory is synced by the caller."""
        temporary = temporary or path.with_name(path.name + ".tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            write_fully(descriptor, content)
            if self.sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(temporary, path)

    def append(self, path: Path, content: bytes, offset: int) -> None:
        """Add `content` to the end of `path`, which must be at `offset`; the bytes are durable afterwards."""
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            end = os.fstat(descriptor).st_size
            if end != offset:
                raise OSError(0, f"the stream ends at byte {end}, not at {offset}", str(path))
            write_fully(descriptor, content)
            if self.sync:
                os.fdatasync(descriptor)
        finally:
            os.close(descriptor)

    def write_at(self, path: Path, content: bytes, offset: int) -> None:
        """Put `content` at `offset` of `path`, durably."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.lseek(descriptor, offset, os.SEEK_SET)
            write_fully(descriptor, content)
            if self.sync:
                os.fdatasync(descriptor)
        finally:
            os.close(descriptor)

    def truncate(self, path: Path, size: int) -> None:
        """Cut `path` to `size` bytes, durably."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.ftruncate(descriptor, size)
            if self.sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def settle(self, path: Path) -> None:
        """Sync a file or directory that is already written."""
        if not self.sync:
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
