"""Control groups for programs: the kernel then limits the memory of all processes of a program together.

Root may make one on machines of both versions, directly under the root of the hierarchy: version 2 allows it there
whatever processes the root has. Another user may make one where a part of the hierarchy was delegated: below the group
of moot itself, or beside it, as in a terminal of a desktop that systemd's user manager started. Anywhere else, and in
most containers, there is none, and the sum is watched instead (usage.py).
"""

from __future__ import annotations

import itertools
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

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
        # Process id and counter make the name unique, also for several runs of one moot side by side.
        directory = place / f"moot-{os.getpid()}-{next(_NUMBERS)}"
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
                places += [(place, _VERSIONS[kind]) for place in dict.fromkeys((root, own, own.parent))
                           if place.is_relative_to(root) and _may_enter_from(place)]  # fmt: skip
    return places


def _own_group(kind: str) -> str:
    """Return the group of this process in the hierarchy that limits memory."""
    for line in OWN.read_text("utf-8").splitlines():
        _, controllers, group = line.split(":", 2)
        if not controllers if kind == "cgroup2" else "memory" in controllers.split(","):
            return group
    return "/"


def _may_enter_from(place: Path) -> bool:
    # To enter a group of version 2, a process needs this right on the group above both. Without it the program's own
    # launcher would fail at the entrance, where nothing can be tried instead. A group outside of a container's own
    # namespace is named by dots.
    return ".." not in place.parts and os.access(place / "cgroup.procs", os.W_OK)
