"""Usage of all processes of a sandbox together, and the control groups by which the kernel limits their memory.

Without a control group the kernel bounds memory of each process alone, so the sum is looked at. A process counts with
its own pages, in memory or swapped out, and its page tables. Memory that belongs to no process is closed by the call
filter (seccomp.py) but for these kinds, which are counted here: files of the work directory and of /dev/shm, the
buffers of sockets and pipes, and the kernel's own lists of mappings.

Root may make a control group on machines of both versions, directly under the root of the hierarchy: version 2 allows
it there whatever processes the root has. Another user may make one where a part of the hierarchy was delegated: below
the group of moot itself, or beside it, as in a terminal of a desktop that systemd's user manager started. Anywhere
else, and in most containers, it is missing, and the sum is watched instead.
"""

from __future__ import annotations

import itertools
import mmap
import os
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

COUNTED: Final = (b"RssAnon:", b"VmSwap:", b"VmPTE:")
"""Lines of /proc/PID/status, in kB."""
SOCKET_BYTES: Final = 212_992 + 65_536
"""Bytes that a local socket may hold unread: the kernel's default, and one more message."""
PIPE_BYTES: Final = 65_536
MAPPING_BYTES: Final = 256
"""Bytes of the kernel for one mapping, which has at least a page of the address space."""


class Usage(NamedTuple):
    """Usage of a process and all its descendants."""

    pids: tuple[int, ...]
    memory_bytes: int
    disk_bytes: int
    inodes: int


def usage_of(pid: int, work: str, *, is_exact: bool = False) -> Usage:
    """Return the usage of a process and all its descendants; `work` is the work directory as they see it.

    Unless it is to be exact, memory is an upper bound that is read quickly.
    """
    pids = descendants(pid)
    disk_bytes, inodes = _filesystem(pids, work)
    shared_bytes, _ = _filesystem(pids, "/dev/shm")
    own, spaces, files = zip(*map(_figures, pids), strict=True)
    # Lists of mappings may be long, so they are counted for a moment only.
    until = time.monotonic() + 0.1 * is_exact
    mappings = sum(
        _mappings(inside, space) if time.monotonic() < until else space // mmap.PAGESIZE
        for inside, space in zip(pids, spaces, strict=True)
    )
    buffers = (_pipes(pids) if is_exact else sum(files)) * PIPE_BYTES + _sockets(pids) * SOCKET_BYTES
    memory = sum(own) + buffers + mappings * MAPPING_BYTES + disk_bytes + shared_bytes
    return Usage(tuple(pids), memory, disk_bytes, inodes)


def descendants(pid: int) -> list[int]:
    """Return a process and all its descendants, parents first."""
    pids = [pid]
    for parent in pids:  # grows while it is walked: children of children
        # A process may end while the list is built; what is gone uses nothing anymore.
        with suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children", "rb", buffering=0) as children:
                    pids.extend(map(int, children.readall().split()))
    return pids


def stopped(pids: Sequence[int]) -> Sequence[int]:
    """Stop all processes of a program, those that are known first, and return them."""
    inside: Sequence[int] = ()
    # Until no new one is there: what is not stopped yet starts others, which would go on during the look. The call
    # filter lets no program continue another.
    while not set(pids).issubset(inside):
        inside = pids
        send(inside, signal.SIGSTOP)
        pids = descendants(inside[0])
    return inside


def send(pids: Iterable[int], number: int) -> None:
    """Send a signal to processes, of which some may be gone."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not only an uncollected entry."""
    with suppress(OSError, IndexError):
        # The name in parentheses may hold spaces or parentheses, so the fields are counted from the last one.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    return False


def _figures(pid: int) -> tuple[int, int, int]:
    """Return the bytes of a process's own pages, those of its address space, and the number of its open files."""
    own = space = files = 0
    with suppress(OSError, IndexError, ValueError):
        lines = Path(f"/proc/{pid}/status").read_bytes().splitlines()
        own, space = (
            sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(names))
            for names in (COUNTED, b"VmSize:")
        )
        # Last, because a program whose file nobody may read hides this from others, but not its memory.
        files = len(os.listdir(f"/proc/{pid}/fd"))
    return own, space, files


def _pipes(pids: Iterable[int]) -> int:
    """Return the number of pipes, each counted once however often it is open."""
    # By their names in /proc: one pipe open in ten processes is one buffer.
    names: set[str] = set()
    for pid in pids:
        with suppress(OSError):
            for descriptor in os.scandir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    names.add(os.readlink(descriptor.path))
    return sum(name.startswith("pipe:") for name in names)


def _mappings(pid: int, space: int) -> int:
    with suppress(OSError):
        return Path(f"/proc/{pid}/maps").read_bytes().count(b"\n")
    return space // mmap.PAGESIZE


def _sockets(pids: list[int]) -> int:
    """Return the number of local sockets of the sandbox's own network namespace.

    Descriptors do not tell: data waits in connections that are not accepted yet, in sockets that were sent over others,
    and in those that are closed.
    """
    outside = os.stat("/proc/self/ns/net").st_ino
    for pid in reversed(pids):
        with suppress(OSError):
            if os.stat(f"/proc/{pid}/ns/net").st_ino == outside:
                continue
            with open(f"/proc/{pid}/net/protocols", "rb") as lines:
                return sum(int(line.split()[2]) for line in lines if line.startswith(b"UNIX"))
    return 0


def _filesystem(pids: list[int], path: str) -> tuple[int, int]:
    """Return bytes and inodes in use on the sandbox's file system at a path.

    The youngest process is asked first: it is surely inside, while the first ones are still outside.
    """
    outside = os.stat("/").st_dev
    for pid in reversed(pids):
        with suppress(OSError):
            # A process that still has the machine's root is bubblewrap itself, whose file system would
            # be the whole disk.
            if os.stat(f"/proc/{pid}/root").st_dev == outside:
                continue
            return in_use(os.statvfs(f"/proc/{pid}/root{path}"))
    return 0, 0


def in_use(stat: os.statvfs_result) -> tuple[int, int]:
    """Return bytes and inodes in use on a file system."""
    return (stat.f_blocks - stat.f_bfree) * stat.f_frsize, stat.f_files - stat.f_ffree


def opened_in(pid: int, path: str) -> int | None:
    """Return a descriptor of what a process alone has mounted at a path; null while nothing is.

    The descriptor keeps the file system, so that it can be asked when all processes are gone.
    """
    with suppress(OSError):
        descriptor = os.open(f"/proc/{pid}/root{path}", os.O_PATH | os.O_DIRECTORY)
        if os.fstat(descriptor).st_dev != os.stat(path).st_dev:
            return descriptor
        os.close(descriptor)
    return None


MOUNTS: Final = Path("/proc/self/mounts")
OWN: Final = Path("/proc/self/cgroup")
SLACK: Final = 16
"""Fraction of the limit that a group gets in addition, for pages of the kernel and of shared libraries."""
SECONDS_TO_EMPTY: Final = 1.0
_NUMBERS: Final = itertools.count()


class _Version(NamedTuple):
    """File names of a group."""

    limits: tuple[str, ...]
    switches: tuple[tuple[str, str], ...]
    counts: str


_VERSIONS: Final = {
    "cgroup2": _Version(
        ("memory.max",), (("memory.swap.max", "0"), ("memory.oom.group", "1")), "memory.events"
    ),
    "cgroup": _Version(("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), (), "memory.oom_control"),
}


class ControlGroup:
    """A group with a memory limit. A process enters it by writing its id into `entrance`."""

    def __init__(self, directory: Path, version: _Version) -> None:
        self._directory = directory
        self._version = version
        self.entrance = directory / "cgroup.procs"

    @property
    def is_exceeded(self) -> bool:
        """Return whether the kernel killed a process of the group because the memory was used up."""
        # The group may be gone already; then there is nothing to report.
        with suppress(OSError):
            for line in (self._directory / self._version.counts).read_text("ascii").splitlines():
                name, _, count = line.partition(" ")
                if name == "oom_kill":
                    return int(count) > 0
        return False

    def remove(self) -> None:
        """Remove the group, once the kernel has let the last process go."""
        deadline = time.monotonic() + SECONDS_TO_EMPTY
        # The kernel refuses to remove a group while a killed process is still leaving it.
        while self._directory.exists():
            with suppress(OSError):
                self._directory.rmdir()
                return
            if time.monotonic() > deadline:
                return
            time.sleep(0.005)


def control_group(memory_bytes: int) -> ControlGroup | None:
    """Make a group with a memory limit; null where that is not possible here."""
    for place, version in _places():
        # A process id means something in one process namespace alone, and containers may share a hierarchy.
        prefix = f"moot-{os.stat('/proc/self/ns/pid').st_ino}-"
        _remove_abandoned(place, prefix)
        # Process id and counter make the name unique, also for several runs of one moot side by side.
        directory = place / f"{prefix}{os.getpid()}-{next(_NUMBERS)}"
        try:
            directory.mkdir()
        # No permission, or a read-only hierarchy: the next one may work, and otherwise usage is watched.
        except OSError:
            continue
        try:
            for name in version.limits:
                # The second limit includes swap, and exists only on kernels that count it.
                if name == version.limits[0] or (directory / name).exists():
                    (directory / name).write_text(str(memory_bytes + memory_bytes // SLACK), "ascii")
            for name, value in version.switches:
                # Switches are improvements that older kernels lack; the limit itself is set above.
                with suppress(OSError):
                    (directory / name).write_text(value, "ascii")
        except OSError:
            directory.rmdir()
            continue
        return ControlGroup(directory, version)
    return None


def _remove_abandoned(place: Path, prefix: str) -> None:
    """Remove the groups that a killed moot left behind; the kernel refuses for a group that has processes."""
    for group in place.glob(f"{prefix}*-*"):
        owner = group.name.removeprefix(prefix).partition("-")[0]
        if owner.isdecimal() and not is_alive(int(owner)):
            with suppress(OSError):
                group.rmdir()


def _places() -> list[tuple[Path, _Version]]:
    """Return the directories where a group with a memory limit may be made: roots first, then what is delegated."""
    places: list[tuple[Path, _Version]] = []
    with suppress(OSError):
        for line in MOUNTS.read_text("utf-8").splitlines():
            _, mount, kind, options, *_ = line.split()
            # Version 1 has one hierarchy per resource; only the one for memory can hold this limit.
            if kind == "cgroup2" or (kind == "cgroup" and "memory" in options.split(",")):
                root = Path(mount)
                own = root / _own_group(kind).lstrip("/")
                # Version 2 gives no limits to groups below one that has processes, so a place beside moot's own
                # group is tried too. It is never above what was delegated: its parent belongs to somebody else.
                # To enter a group of version 2, a process needs a right on the group above both. Without it the
                # program's own launcher would fail at the entrance, where nothing can be tried instead. A group
                # outside of a container's own namespace is named by dots.
                places += [(place, _VERSIONS[kind]) for place in dict.fromkeys((root, own, own.parent))
                           if place.is_relative_to(root) and ".." not in place.parts
                           and os.access(place / "cgroup.procs", os.W_OK)]  # fmt: skip
    return places


def _own_group(kind: str) -> str:
    """Return the group of this process in the hierarchy that limits memory."""
    for line in OWN.read_text("utf-8").splitlines():
        _, controllers, group = line.split(":", 2)
        if not controllers if kind == "cgroup2" else "memory" in controllers.split(","):
            return group
    return "/"
