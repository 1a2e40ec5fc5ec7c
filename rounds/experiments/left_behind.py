"""Work directories that a killed process left: told from those in use by their names, and removed by the next one."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

PREFIX: Final = "moot-experiment-"
OWNER: Final = re.compile(rf"{PREFIX}(?P<boot>[0-9a-f]{{12}})-(?P<pid>[0-9]+)-(?P<began>[0-9]+)-")
"""Name of a work directory: whose it is, so that what a kill left is told from what is in use."""


def remove_left_behind() -> None:
    """Remove the work directories of processes of ours that are dead: of this user, made here, and of nobody alive."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = OWNER.match(path.name)
        with suppress(OSError):
            found = path.lstat()
            mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
            if owner and mine and _is_dead(int(owner["pid"]), owner["boot"], int(owner["began"])):
                shutil.rmtree(path, ignore_errors=True)


def prefix_of_ours() -> str:
    """How the name of a work directory of this process begins: its system's start, its number, and when it began."""
    pid = os.getpid()
    return f"{PREFIX}{_boot()}-{pid}-{_began(pid)}-"


def _boot() -> str:
    """The start of the system together with the namespace of process numbers: elsewhere a number means another."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return hashlib.sha256(f"{boot} {os.readlink('/proc/self/ns/pid')}".encode()).hexdigest()[:12]
    return "unknown"


def _began(pid: int) -> int | None:
    """When a process began, in ticks; None where there is none, or nobody can say."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return None


def _is_dead(pid: int, boot: str, began: int) -> bool:
    return boot == _boot() and _began(pid) != began
