"""Walls of the sandbox: the `bwrap` command line that a program runs under.

inside     no network, its own process table and hostname, no capabilities, no new privileges, another user
readable   /usr, /bin, /lib*, the interpreter, five small files of /etc
writable   the work directory, a tmpfs of limited size and number of files, and 1 MB of /dev/shm for locks

bubblewrap cannot limit the files of a tmpfs. So it starts in a mount namespace of its own, where such a tmpfs covers
ROOM, and binds that as the work directory. A person without root's rights needs a user namespace for the mount. The
program is in a further one, as before, and has no way to the outer. Where the mount is refused, bubblewrap makes the
tmpfs, and the number of files is watched.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

NAME: Final = "bubblewrap"
PROGRAM: Final = "bwrap"
OLDEST: Final = (0, 8)
"""First version that limits a tmpfs and can forbid further user namespaces."""
WORK: Final = "/work"
"""Directory of the program's files inside, and the only place it may write."""
ROOM: Final = "/sys"
"""Directory that the limited tmpfs covers, for bubblewrap alone. Every machine has it, and no program needs it."""
ENVIRONMENT: Final = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
"""Almost empty: the behavior of bubblewrap and its helpers must not depend on the person's variables."""
NOBODY: Final = "65534"
FIRST_USER: Final = 2_000_000_000
USERS: Final = 100_000_000
"""User numbers that no system gives to people or services."""
SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS: Final = ("ld.so.cache", "alternatives", "localtime", "nsswitch.conf", "passwd")
"""Files that programs look for in /etc; none of them is secret."""
DEVICE_BYTES: Final = 65_536
SHARED_BYTES: Final = 2**20
SECONDS_TO_ANSWER: Final = 10
TRIAL_INODES: Final = 77


def version() -> str | None:
    """Return the version of the installed bubblewrap; null when it is not installed or does not answer."""
    if shutil.which(PROGRAM) is None:
        return None
    # A broken installation counts as none: the caller then explains how to install bubblewrap.
    with suppress(OSError, subprocess.SubprocessError):
        reply = subprocess.run(
            [PROGRAM, "--version"], capture_output=True, text=True, timeout=SECONDS_TO_ANSWER, check=False
        )
        number = re.search(r"\d+(\.\d+)+", reply.stdout)
        return number[0] if reply.returncode == 0 and number else None
    return None


def interpreter() -> Path:
    """Return the directory of the Python that runs moot: programs get the same one, with its standard library alone."""
    return Path(sys.base_prefix)


@cache
def limits_files() -> bool:
    """Return whether the kernel can limit the number of files here, found out by trying.

    Some systems refuse the mount, or bubblewrap inside another user namespace. The answer holds for this process, so
    that what `moot doctor` and the person's consent are about is what happens.
    """
    words = [*_covering(DEVICE_BYTES, TRIAL_INODES), PROGRAM, *_namespaces()]
    words += f"--ro-bind / / --proc /proc --bind {ROOM} {ROOM} -- stat -f -c %c {ROOM}".split()
    with suppress(OSError, subprocess.SubprocessError):
        reply = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_ANSWER,
            check=False,
            cwd="/",
            env=ENVIRONMENT,
        )
        return reply.stdout.strip() == str(TRIAL_INODES)
    return False


def _covering(disk_bytes: int, inodes: int) -> list[str]:
    """Return the words before a command that then finds a tmpfs with these limits at ROOM, and alone sees it."""
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    options = f"size={disk_bytes},nr_inodes={inodes},mode=0777,nosuid,nodev"
    mount = f'mount -t tmpfs -o {options} moot {ROOM} && exec "$@"'
    return ["unshare", "--mount", *user, "--", "/bin/sh", "-c", mount, "sh"]


def _namespaces() -> list[str]:
    words = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    # The group of control groups is optional, because older kernels have no namespace for it.
    words += ["--unshare-cgroup-try"]
    if os.geteuid() == 0:
        # Root stays outside a user namespace: there the kernel would count no processes for the limit.
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            words += ["--cap-add", capability]
        return words
    return [*words, "--unshare-user", "--disable-userns", "--uid", NOBODY, "--gid", NOBODY]


def command(
    launcher: Sequence[str],
    files: Mapping[str, int],
    call_filter: int,
    environment: Mapping[str, str],
    disk_bytes: int,
    inodes: int,
) -> list[str]:
    """Return the words that run `launcher` inside, with `inodes` as the limit of files where `limits_files`.

    `files`: name in the work directory → descriptor of its content. `call_filter`: descriptor of the seccomp program.
    """
    covering = _covering(disk_bytes, inodes) if limits_files() else []
    words = [*covering, shutil.which(PROGRAM) or PROGRAM, *_namespaces()]
    # A new session takes the terminal away: a program could otherwise type into it (TIOCSTI).
    words += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"]
    words += ["--seccomp", str(call_filter)]
    for path in _readable():
        for above in reversed(Path(path).parents[:-1]):
            # A way to the interpreter, and nothing beside it.
            words += ["--perms", "0755", "--dir", str(above)]
        words += ["--ro-bind", path, path]
    # On most systems /bin and /lib lead into /usr.
    for path in filter(os.path.islink, SYSTEM):
        words += ["--symlink", os.readlink(path), path]
    for path in filter(os.path.exists, (f"/etc/{name}" for name in SETTINGS)):
        words += ["--ro-bind", path, path]
    # /proc/sys is read-only: with root, some settings of the machine could be written through it.
    words += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", *_devices()]
    # The work directory has a fixed size in memory, so that a program cannot fill a disk.
    if covering:
        words += ["--bind", ROOM, WORK]
    else:
        words += ["--perms", "0777", "--size", str(disk_bytes), "--tmpfs", WORK]
    for name, descriptor in files.items():
        words += ["--perms", "0755", "--file", str(descriptor), f"{WORK}/{name}"]
    # Last, when all places exist: from here on only the work directory and /dev/shm can be written.
    words += ["--remount-ro", "/", "--chdir", WORK]
    for name, value in environment.items():
        words += ["--setenv", name, value]
    return [*words, "--", *(_as_other_user() if os.geteuid() == 0 else ()), *launcher]


def _devices() -> list[str]:
    """Return a /dev without /dev/zero, whose shared mappings are memory that belongs to no process."""
    words = ["--perms", "0755", "--size", str(DEVICE_BYTES), "--tmpfs", "/dev"]
    for name in ("null", "full", "random", "urandom"):
        words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for link, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        words += ["--symlink", f"/proc/self/fd{target}", f"/dev/{link}"]
    words += ["--perms", "1777", "--size", str(SHARED_BYTES), "--tmpfs", "/dev/shm"]
    return [*words, "--remount-ro", "/dev"]


def _readable() -> Iterable[str]:
    """Yield the paths that a program may read: the system's programs and libraries, and the interpreter."""
    prefix = str(interpreter())
    yield from (path for path in SYSTEM if os.path.isdir(path) and not os.path.islink(path))
    if not prefix.startswith("/usr"):
        yield prefix


def _user_of_its_own() -> str:
    """Return a user that owns nothing and runs nothing else.

    The kernel counts processes by user: programs that run side by side as one user would take each other's share. Where
    a container maps few users, all programs share `nobody`.
    """
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/uid_map").read_text("ascii").splitlines():
            first, _, length = map(int, line.split())
            # Only where the whole range is mapped: in a container with few users such a
            # number does not exist.
            if first + length > FIRST_USER + USERS:
                return str(FIRST_USER + secrets.randbelow(USERS))
    return NOBODY


def _as_other_user() -> list[str]:
    """Return the words that give up root before the program starts."""
    user = _user_of_its_own()
    words = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--bounding-set=-all"]
    return [*words, "--inh-caps=-all", "--no-new-privs"]
