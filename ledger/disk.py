"""Durable writes: a file's bytes and its directory entry are on the disk before the call returns."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from ledger.failures import Unreadable, WriteFailed

NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
OLD: Final = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How files of a run are opened for writing: a link that stands there in a file's place leads nowhere."""


def open_plain(path: str | Path) -> int:
    """A descriptor for reading a plain file. Raises `OSError`; a pipe or a device would never end, and is refused."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            what = "a directory" if stat.S_ISDIR(mode) else "a pipe or a device"
            raise OSError(errno.EINVAL, f"{what}, not a plain file", str(path))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def plain_file(path: Path, buffer_bytes: int = -1) -> BinaryIO:
    """A plain file, open for reading. Raises what `open_plain` raises."""
    descriptor = open_plain(path)
    try:
        return os.fdopen(descriptor, "rb", buffer_bytes)
    except OSError:
        os.close(descriptor)
        raise


def refuse_link(directory: Path) -> None:
    """Raise `OSError` when a directory of a run, into which something is to be written, leads elsewhere."""
    if directory.is_symlink():
        raise OSError(errno.ELOOP, "leads elsewhere by a symbolic link", str(directory))


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
        descriptor = os.open(temporary, NEW | os.O_TRUNC, 0o666)
        try:
            write_fully(descriptor, content)
            if self.sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(temporary, path)

    def make(self, path: Path) -> None:
        """An empty file at `path`, if there is none; the directory is synced by the caller."""
        os.close(os.open(path, NEW, 0o666))

    def append(self, path: Path, content: bytes, offset: int) -> None:
        """Add `content` to the end of `path`, which must be at `offset`; the bytes are durable afterwards."""
        descriptor = os.open(path, OLD | os.O_APPEND)
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
        descriptor = os.open(path, OLD)
        try:
            os.lseek(descriptor, offset, os.SEEK_SET)
            write_fully(descriptor, content)
            if self.sync:
                os.fdatasync(descriptor)
        finally:
            os.close(descriptor)

    def truncate(self, path: Path, size: int) -> None:
        """Cut `path` to `size` bytes, durably."""
        descriptor = os.open(path, OLD)
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
