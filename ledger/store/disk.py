"""Durable writes: a file's bytes and its directory entry are on the disk before the call returns."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from ledger.store.failures import Unreadable, WriteFailed

AnyPath = str | os.PathLike[str]
_PLAIN: Final = os.O_NOFOLLOW | os.O_CLOEXEC
"""A link in the place of a file of a run is refused, not followed."""
_STAGING: Final = re.compile(r"\..+\.[0-9]+\.[0-9a-f]{8}\.tmp", re.DOTALL)


def open_plain(path: AnyPath) -> int:
    """Return a descriptor to read a plain file with. Raises `OSError`, also for a pipe, which would never end."""
    # Without O_NONBLOCK, opening a named pipe in a hostile run directory would wait for a writer forever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        # The open descriptor is examined, not the path, which could be swapped in between.
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            what = "a directory" if stat.S_ISDIR(mode) else "a pipe or a device"
            raise OSError(errno.EINVAL, f"{what}, not a plain file", str(path))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def plain_file(path: AnyPath, buffer_bytes: int = -1) -> BinaryIO:
    """Open a plain file for reading. Raises `OSError`, also for a pipe or a device, which would never end."""
    return open(path, "rb", buffer_bytes, opener=lambda name, _: open_plain(name))


@contextmanager
def descriptor_of(path: AnyPath, flags: int, mode: int = 0o666) -> Generator[int]:
    """Yield a descriptor of a file of a run. A link in the file's place is refused, not followed."""
    descriptor = os.open(path, flags | _PLAIN, mode)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_plain(path: AnyPath, bytes_max: int) -> bytes:
    """Return the bytes of a plain file of at most `bytes_max` bytes; a larger one is not read at all.

    Raises `OSError`: what `plain_file` raises, and for a file that is too large, or grows while it is read.
    """
    with plain_file(path) as file:
        # One byte more than allowed is read, so that a file which grows meanwhile is noticed.
        content = file.read(bytes_max + 1) if os.fstat(file.fileno()).st_size <= bytes_max else None
    if content is None or len(content) > bytes_max:
        raise OSError(errno.EINVAL, f"more than {bytes_max} bytes", str(path))
    return content


def refuse_link(directory: Path) -> None:
    """Raise `OSError` when a directory of a run is a symbolic link, before something is written into it."""
    if directory.is_symlink():
        raise OSError(errno.ELOOP, "leads elsewhere by a symbolic link", str(directory))


def real(path: Path) -> Path:
    """Return a path with its links followed. A loop of links stays as it is: opening it is refused in words."""
    # `Path.resolve` raises `RuntimeError` for a loop before Python 3.13, and no caller expects that.
    return Path(os.path.realpath(path))


@contextmanager
def writing(path: AnyPath) -> Generator[None]:
    """Turn what the file system refuses into `WriteFailed`."""
    try:
        yield
    except OSError as error:
        raise write_failed(error, path) from error


def write_failed(error: OSError, path: AnyPath) -> WriteFailed:
    """Return the exception for what the file system refused to write."""
    what = error.strerror or str(error)
    there = error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
    fix = "choose another place" if there else "free some space or fix the permissions"
    fix = f"{fix}, then do it again: nothing was acknowledged"
    return WriteFailed(f"cannot write: {what}", str(error.filename or path), fix)


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
    """Return the exception for what the file system refused to read."""
    what = f"cannot read: {error.strerror or error}"
    fix = (
        "raise the limit of open files (ulimit -n)"
        if error.errno in (errno.EMFILE, errno.ENFILE)
        else "fix the permissions, or the disk"
    )
    return Unreadable(what, str(error.filename or path), fix)


def write_fully(descriptor: int, content: bytes) -> None:
    """Write all of `content`; the kernel may take it in parts."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


def write_out(path: Path, content: bytes, *, mode: int = 0o666, over: bool = True) -> None:
    """Put a document where a person wants it, durably and whole or not at all. An existing file stays until then.

    A pipe or a device is written to as it is. `over` false refuses to replace a file. Raises `OSError`.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        with place.open("wb") as stream:
            stream.write(content)
        return
    import tempfile  # verbs that only look write nothing beside a run

    descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:100]}.", suffix=".tmp")
    temporary = Path(name)
    try:
        try:
            write_fully(descriptor, content)
            os.fchmod(descriptor, _kept_mode(place, mode))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        # `link` fails when the name exists, atomically; a check before a rename could lose a race.
        (os.rename if over else os.link)(temporary, place)
    except OSError as error:
        if error.filename == name:  # what could not be done was for the file that the person named
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)
    settle(place.parent)


def _kept_mode(place: Path, mode: int) -> int:
    """Return the permissions of the file that is replaced, or those that a new one gets here."""
    if place.exists():
        return stat.S_IMODE(place.stat().st_mode)
    # The umask can only be read by setting it.
    umask = os.umask(0)
    os.umask(umask)
    return mode & ~umask


@contextmanager
def staged(path: Path) -> Generator[Path]:
    """Yield a hidden directory beside `path` that becomes `path` when the block succeeds.

    It is removed when the block fails.

    What a killed process left of such a directory is removed by the next one that creates something beside it: a
    process locks the directory that it fills, and the lock ends with the process. `path` may be an empty directory.
    Raises `OSError`.
    """
    _remove_abandoned(path.parent)
    staging, held = _hidden(path)
    try:
        yield staging
        settle(staging)
        os.rename(staging, path)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)  # this process created it, and no other uses it
        raise
    finally:
        os.close(held)
    settle(path.parent)


def _hidden(path: Path) -> tuple[Path, int]:
    """Create a new hidden directory and return it with the descriptor that locks it."""
    while True:
        staging = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
        staging.mkdir()
        try:
            held = os.open(staging, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:  # a process creating a neighbor took it for abandoned before it was open
            continue
        fcntl.flock(held, fcntl.LOCK_EX)
        if staging.exists():  # no other process took it for abandoned before it was locked
            return staging, held
        os.close(held)


def _remove_abandoned(directory: Path) -> None:
    for place in directory.iterdir() if directory.is_dir() else ():
        if _STAGING.fullmatch(place.name) is None or place.is_symlink():
            continue
        # Refused where it is in use by another process, or gone in between.
        with suppress(OSError), descriptor_of(place, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
            # The lock of a live process makes this fail, so only the leftovers of dead ones are removed.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(place)


def replace(path: Path, pieces: Iterable[bytes]) -> None:
    """Put `pieces` at `path`, all of them or none; the directory is synced by the caller."""
    temporary = path.with_name(path.name + ".tmp")
    with descriptor_of(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as descriptor:
        for piece in pieces:
            write_fully(descriptor, piece)
        os.fsync(descriptor)
    # A reader sees the old file or the new one. The content was synced first, so a crash cannot leave an
    # empty file under the name.
    os.rename(temporary, path)


def make(path: AnyPath) -> None:
    """Create an empty file at `path` unless it exists; the directory is synced by the caller."""
    with descriptor_of(path, os.O_WRONLY | os.O_CREAT):
        pass


def append(path: AnyPath, content: bytes, offset: int) -> None:
    """Add `content` to the end of `path`, which must be at `offset`; the bytes are durable afterwards."""
    with descriptor_of(path, os.O_WRONLY | os.O_APPEND) as descriptor:
        # Bytes that another program appended would otherwise shift every offset of this commit.
        end = os.fstat(descriptor).st_size
        if end != offset:
            raise OSError(0, f"the file ends at byte {end}, not at {offset}", str(path))
        write_fully(descriptor, content)
        # fdatasync also stores the new size of the file, and skips times that nothing depends on.
        os.fdatasync(descriptor)


def write_at(path: AnyPath, content: bytes, offset: int) -> None:
    """Write `content` at `offset` of `path`; the bytes are durable afterwards."""
    with descriptor_of(path, os.O_WRONLY) as descriptor:
        os.lseek(descriptor, offset, os.SEEK_SET)
        write_fully(descriptor, content)
        os.fdatasync(descriptor)


def truncate(path: AnyPath, size: int) -> None:
    """Cut `path` to `size` bytes, durably."""
    with descriptor_of(path, os.O_WRONLY) as descriptor:
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)


def settle(path: AnyPath) -> None:
    """Sync a file or directory that is already written."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
