"""The walls of the sandbox: the `bwrap` command line that a program runs under.

inside     no network, its own process table and hostname, no capabilities, no new privileges, user nobody
readable   /usr, /bin, /lib*, the interpreter, five small files of /etc
writable   the work directory alone
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

NAME: Final = "bubblewrap"
WORK: Final = "/work"
"""Where the program's files lie inside, and the only place it may write."""
NOBODY: Final = "65534"
SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS: Final = ("ld.so.cache", "alternatives", "localtime", "nsswitch.conf", "passwd")
"""What programs look for in /etc; none of it is secret."""
SECONDS_FOR_A_VERSION: Final = 10


def version() -> str | None:
    """Return the version of the installed bubblewrap; null when it is not installed or does not answer."""
    if shutil.which("bwrap") is None:
        return None
    with suppress(OSError, subprocess.SubprocessError):
        reply = subprocess.run(
            ["bwrap", "--version"], capture_output=True, text=True, timeout=SECONDS_FOR_A_VERSION, check=False
        )
        number = re.search(r"\d+(\.\d+)+", reply.stdout)
        return number[0] if reply.returncode == 0 and number else None
    return None


def interpreter() -> Path:
    """Return the directory of the Python that runs moot: programs get the same one, with its standard library alone."""
    return Path(sys.base_prefix)


def command(launcher: Sequence[str], work: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the words that run `launcher` inside, with `work` as its only writable place."""
    is_root = os.geteuid() == 0
    words = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-cgroup-try"]
    if is_root:
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            words += ["--cap-add", capability]
    else:
        words += ["--unshare-user", "--uid", NOBODY, "--gid", NOBODY]
    words += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"]
    for path in _readable():
        for above in reversed(Path(path).parents[:-1]):
            # A way to the interpreter, and nothing beside it.
            words += ["--perms", "0755", "--dir", str(above)]
        words += ["--ro-bind", path, path]
    for path, target in _links():
        words += ["--symlink", target, path]
    for path in _settings():
        words += ["--ro-bind", path, path]
    words += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    words += ["--bind", str(work), WORK, "--remount-ro", "/", "--chdir", WORK]
    for name, value in environment.items():
        words += ["--setenv", name, value]
    return [*words, "--", *(_as_nobody() if is_root else ()), *launcher]


def _readable() -> Iterable[str]:
    """Yield the paths that a program may read: the system's programs and libraries, and the interpreter."""
    prefix = str(interpreter())
    yield from (path for path in SYSTEM if os.path.isdir(path) and not os.path.islink(path))
    if not prefix.startswith("/usr"):
        yield prefix


def _links() -> Iterable[tuple[str, str]]:
    """Yield the system's links: on most systems /bin and /lib lead into /usr."""
    return ((path, os.readlink(path)) for path in SYSTEM if os.path.islink(path))


def _settings() -> Iterable[str]:
    return (f"/etc/{name}" for name in SETTINGS if os.path.exists(f"/etc/{name}"))


def _as_nobody() -> list[str]:
    """Return the words that become nobody before the program starts: root stays root for the count of processes."""
    words = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--bounding-set=-all"]
    return [*words, "--inh-caps=-all", "--no-new-privs"]
