"""Write access: the lock held for one commit, and the lease of the process that drives a run (FORMAT 8).

Waiters form a queue. Each takes a ticket: a write lock on one byte of the lock file, after the highest locked byte. It
has the lock when no lower byte is locked. These locks belong to the open file (`F_OFD_SETLK`), so the kernel takes a
ticket back when its process dies, for whatever reason and at any position in the queue. Nothing is written to the file.

The driver file (pid, boot id, heartbeat) is for people: which process drives the run, and when it last reported.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final

import msgspec

from ledger.plain_json import NotJson, decoded
from ledger.store.disk import read_plain, write_failed, write_fully, writing
from ledger.store.failures import DriverBusy, LockTimeout, WriteFailed
from ledger.store.streams import path_in

POLL_SECONDS: Final = 0.005
POLL_SECONDS_MAX: Final = 0.05
WAIT_SECONDS: Final = 60.0
NOTICE_SECONDS: Final = 2.0
DRIVER_BYTES_MAX: Final = 4_096
BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
FLOCK: Final = struct.Struct("hhqqi0q")
"""The kernel's `struct flock`: type, whence, start, length (0: to the end), pid."""


@contextmanager
def locked(directory: Path, wait_seconds: float = WAIT_SECONDS) -> Generator[None]:
    """Hold `<directory>/lock`, in the order of asking. Raises `LockTimeout` after `wait_seconds` in the queue."""
    path = path_in(directory, "lock")
    descriptor = _acquire(path, wait_seconds)
    if descriptor is None:
        fix = "other processes are writing: try again, or look for one that hangs"
        raise LockTimeout(f"waited {wait_seconds:g} s for the lock", path, fix)
    try:
        yield
    finally:
        _let_go(descriptor)


def _acquire(path: str, wait_seconds: float) -> int | None:
    """Return a descriptor that holds the lock on the file that is at `path` now, or None when the wait is over."""
    began = time.monotonic()
    while True:
        holds = False
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
            try:
                if not _came_first(descriptor, path, began, wait_seconds):
                    return None
                # A lock on a file that was removed meanwhile excludes no other process.
                holds = _is_at(descriptor, path)
            finally:
                if not holds:
                    _let_go(descriptor)
        except OSError as error:
            raise write_failed(error, path) from error
        if holds:
            return descriptor


def _came_first(descriptor: int, path: str, began: float, wait_seconds: float) -> bool:
    """Queue for the lock until no other ticket is ahead.

    Return False when the wait is over, and True also when the file was removed.
    """
    ticket = _take_ticket(descriptor)
    pause = POLL_SECONDS
    noticed = False
    # Ticket 1 is the lowest, so nothing can be ahead of it.
    while ticket > 1 and _ticket_of_another(descriptor, 0, ticket) is not None and _is_at(descriptor, path):
        waited = time.monotonic() - began
        if waited >= wait_seconds:
            return False
        if waited > NOTICE_SECONDS and not noticed:
            noticed = True
            _notice(path, wait_seconds)
        time.sleep(min(pause, wait_seconds - waited))
        # OFD locks have no fair blocking wait across tickets, so waiters poll with a short, growing pause.
        pause = min(pause * 2, POLL_SECONDS_MAX)
    return True


def _take_ticket(descriptor: int) -> int:
    """Lock the byte after the highest locked one, and return its number."""
    while True:
        # Numbers start at 1: the range before ticket 0 would have length 0, which means "to the end of the file".
        ticket = 1
        while (taken := _ticket_of_another(descriptor, ticket, 0)) is not None:
            ticket = taken + 1
        try:
            _lock_call(descriptor, fcntl.F_OFD_SETLK, fcntl.F_WRLCK, ticket, 1)
        except BlockingIOError:  # another process took the same number first
            continue
        # The queue may have emptied and filled again between the look and the lock, and the holder of a higher
        # number may have the lock already: a number below another one is no place in the queue.
        if _ticket_of_another(descriptor, ticket + 1, 0) is None:
            return ticket
        _lock_call(descriptor, fcntl.F_OFD_SETLK, fcntl.F_UNLCK, ticket, 1)


def _ticket_of_another(descriptor: int, start: int, length: int) -> int | None:
    """Return a ticket that another open file holds in this range of bytes, or None."""
    kind, place = _lock_call(descriptor, fcntl.F_OFD_GETLK, fcntl.F_WRLCK, start, length)
    return None if kind == fcntl.F_UNLCK else place


def _lock_call(descriptor: int, command: int, kind: int, start: int, length: int) -> tuple[int, int]:
    answer = fcntl.fcntl(descriptor, command, FLOCK.pack(kind, os.SEEK_SET, start, length, 0))
    kind, _, place, _, _ = FLOCK.unpack(answer)
    return kind, place


def _notice(path: str, wait_seconds: float) -> None:
    """Log why nothing happens; a program that embeds moot decides itself where its log goes."""
    import logging  # most processes never wait

    run = os.path.dirname(path)
    logging.getLogger("moot").warning(
        "moot: waiting for other processes that write to %r (%g s at most)", run, wait_seconds
    )


def _let_go(descriptor: int) -> None:
    """Close a lock file. Nothing was written to it, and the kernel lets go of it whatever it answers."""
    with suppress(OSError):
        os.close(descriptor)


def _is_at(descriptor: int, path: str) -> bool:
    """Return whether the locked file is still the one at `path`."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    """Driver of a run, as the driver file records it. `heartbeat` is in whole seconds of the Unix clock."""

    pid: int
    boot: str
    heartbeat: int

    @property
    def alive(self) -> bool:
        """Return whether that process can still exist: same boot, and the pid is in use."""
        # After a reboot the pid may belong to another program. A pid reused within one boot is a rare false
        # alarm, and the lock decides anyway.
        return self.boot == boot_id() and Path(f"/proc/{self.pid}").exists()


def boot_id() -> str:
    """Return the id of this boot of this machine; empty where the kernel does not tell."""
    try:
        return BOOT_ID.read_text("ascii").strip()
    except OSError:
        return ""


def read_driver(directory: Path) -> Driver | None:
    """Return the driver of a run, if the file names one that can be alive."""
    try:
        driver = decoded(read_plain(directory / "driver", DRIVER_BYTES_MAX), Driver)
    except (OSError, NotJson):
        return None  # no file, an empty one after a clean end, or one being written
    return driver if driver.alive else None


class DriverLease:
    """Context manager that makes this process the one driver of a run. `lease.beat()` shows that it lives."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, directory: Path) -> None:
        self._path = directory / "driver"
        self._descriptor = -1

    def __enter__(self) -> DriverLease:
        # A second driver must fail at once: it would spend money on steps that the first one is asking already.
        descriptor = _acquire(str(self._path), 0.0)
        if descriptor is None:
            raise self._busy()
        self._descriptor = descriptor
        try:
            self.beat()
        except WriteFailed:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        with suppress(OSError):  # what the file says is for people; the lease ends with the lock
            os.ftruncate(descriptor, 0)
        _let_go(descriptor)

    def beat(self) -> None:
        """Write the time into the driver file."""
        assert self._descriptor >= 0, "the lease is not held"
        driver = Driver(pid=os.getpid(), boot=boot_id(), heartbeat=int(time.time()))
        with writing(self._path):
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            # Old content may be longer than the new line and would leave a torn end behind it.
            os.ftruncate(self._descriptor, 0)
            write_fully(self._descriptor, msgspec.json.encode(driver) + b"\n")

    def _busy(self) -> DriverBusy:
        driver = read_driver(self._path.parent)
        who = f"process {driver.pid}" if driver else "another process"
        silent = f", last sign of life {max(0, int(time.time()) - driver.heartbeat)} s ago" if driver else ""
        fix = "watch it with `moot status`, or end that process; `moot submit` takes replies meanwhile"
        return DriverBusy(f"{who} already drives this run{silent}", str(self._path), fix)
