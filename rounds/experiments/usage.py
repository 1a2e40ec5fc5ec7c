"""Usage of all processes of a sandbox together, read from /proc while they run.

Without a control group the kernel bounds memory of each process alone, so the sum is looked at. A process counts with
its own pages, in memory or swapped out, and its page tables. Memory that belongs to no process is closed by the call
filter (seccomp.py) but for three kinds, which are counted here: files of the work directory and of /dev/shm, and the
buffers of sockets and pipes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

COUNTED: Final = (b"RssAnon:", b"VmSwap:", b"VmPTE:")
"""Lines of /proc/PID/status, in kB."""
SOCKET_BYTES: Final = 212_992
"""Bytes that a local socket may hold unread, the kernel's default."""
PIPE_BYTES: Final = 65_536


class Usage(NamedTuple):
    """Usage of a process and all its descendants."""

    processes: int
    memory_bytes: int
    disk_bytes: int
    inodes: int


def usage_of(pid: int, work: str) -> Usage:
    """Return the usage of a process and all its descendants; `work` is the work directory as they see it."""
    pids = descendants(pid)
    disk_bytes, inodes = _filesystem(pids, work)
    shared_bytes, _ = _filesystem(pids, "/dev/shm")
    memory = sum(map(_own_bytes, pids)) + _buffer_bytes(pids) + disk_bytes + shared_bytes
    return Usage(len(pids), memory, disk_bytes, inodes)


def descendants(pid: int) -> list[int]:
    """Return a process and all its descendants, parents first."""
    pids = [pid]
    for parent in pids:  # grows while it is walked: children of children
        # A process may end while the list is built; what is gone uses nothing anymore.
        with suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                pids.extend(int(word) for word in task.joinpath("children").read_bytes().split())
    return pids


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not only an uncollected entry."""
    with suppress(OSError, IndexError):
        # The name in parentheses may hold spaces or parentheses, so the fields are counted from the last one.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    return False


def _own_bytes(pid: int) -> int:
    total = 0
    with suppress(OSError, IndexError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
            if line.startswith(COUNTED):
                total += int(line.split()[1]) * 1024
    return total


def _buffer_bytes(pids: Iterable[int]) -> int:
    """Return what the sockets and pipes of processes may hold, each counted once however often it is open."""
    # By their names in /proc: one pipe open in ten processes is one buffer.
    names: set[str] = set()
    for pid in pids:
        with suppress(OSError):
            for descriptor in os.scandir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    names.add(os.readlink(descriptor.path))
    sockets = sum(name.startswith("socket:") for name in names)
    pipes = sum(name.startswith("pipe:") for name in names)
    return sockets * SOCKET_BYTES + pipes * PIPE_BYTES


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
            stat = os.statvfs(f"/proc/{pid}/root{path}")
            return (stat.f_blocks - stat.f_bfree) * stat.f_frsize, stat.f_files - stat.f_ffree
    return 0, 0
