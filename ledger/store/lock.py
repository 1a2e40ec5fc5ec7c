"""Who may write: the lock held for one commit, and the lease of the process that drives a run (FORMAT 8).

Both are flocks, so the kernel takes them back when their holder dies, whatever killed it. The driver file
(pid, boot id, heartbeat) is for people: who it is, and since when it is silent.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final

import msgspec

from ledger.store.disk import open_plain, write_fully, writing
from ledger.store.failures import DriverBusy, LockTimeout, WriteFailed

POLL_SECONDS: Final = 0.005
POLL_SECONDS_MAX: Final = 0.05
DRIVER_BYTES_MAX: Final = 4_096
BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@contextmanager
def locked(directory: Path, wait_seconds: float) -> Generator[None]:
    """Hold `<directory>/lock`. Raises `LockTimeout` when somebody else has it for `wait_seconds`."""
    path = directory / "lock"
    descriptor = _acquire(path, wait_seconds)
    if descriptor is None:
        fix = "another writer is at work: try again, or look for a process that hangs"
        raise LockTimeout(f"the lock was held for {wait_seconds:g} s", str(path), fix)
    try:
        yield
    finally:
        _let_go(descriptor)


def _acquire(path: Path, wait_seconds: float) -> int | None:
    """A descriptor that holds the flock on the file that is at `path` now, or None when the wait is over."""
    deadline = time.monotonic() + wait_seconds
    pause = POLL_SECONDS
    while True:
        with writing(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
            holds = False
            try:
                holds = _flock(descriptor) and _is_at(descriptor, path)
            finally:
                if not holds:
                    _let_go(descriptor)
        if holds:
            return descriptor
        if time.monotonic() >= deadline:
            return None
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 2, POLL_SECONDS_MAX)


def _let_go(descriptor: int) -> None:
    """Close a lock file. Nothing was written to it, and the kernel lets go of it whatever it answers."""
    with suppress(OSError):
        os.close(descriptor)


def _flock(descriptor: int) -> bool:
    """Whether the lock was free and is ours now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the locked file was not removed meanwhile: a lock on a lost file locks nobody out."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    """Who drives a run, as the driver file says it. `heartbeat` is in whole seconds of the Unix clock."""

    pid: int
    boot: str
    heartbeat: int

    @property
    def alive(self) -> bool:
        """Whether that process can still be there: same boot, and the pid is in use."""
        return self.boot == boot_id() and Path(f"/proc/{self.pid}").exists()


def boot_id() -> str:
    """Which boot of which machine this is; empty where the kernel does not say."""
    try:
        return BOOT_ID.read_text("ascii").strip()
    except OSError:
        return ""


def read_driver(directory: Path) -> Driver | None:
    """Who drives the run, if somebody says so and can be alive."""
    try:
        descriptor = open_plain(directory / "driver")
        try:
            driver = msgspec.json.decode(os.read(descriptor, DRIVER_BYTES_MAX), type=Driver)
        finally:
            os.close(descriptor)
    except (OSError, msgspec.MsgspecError):
        return None  # no file, an empty one after a clean end, or one being written
    return driver if driver.alive else None


class DriverLease:
    """`with DriverLease(run.path) as lease:` – one driver a run. `lease.beat()` shows that it lives."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, directory: Path) -> None:
        self._path = directory / "driver"
        self._descriptor = -1

    def __enter__(self) -> DriverLease:
        descriptor = _acquire(self._path, 0.0)
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
            os.ftruncate(self._descriptor, 0)
            write_fully(self._descriptor, msgspec.json.encode(driver) + b"\n")

    def _busy(self) -> DriverBusy:
        driver = read_driver(self._path.parent)
        who = f"process {driver.pid}" if driver else "another process"
        silent = f", last sign of life {max(0, int(time.time()) - driver.heartbeat)} s ago" if driver else ""
        fix = "watch it with `moot status`, or end that process; `moot submit` takes replies meanwhile"
        return DriverBusy(f"{who} already drives this run{silent}", str(self._path), fix)
