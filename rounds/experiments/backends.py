"""Backends of the sandbox, in the order in which they are tried: bubblewrap, namespaces, docker, podman.

inside     network none, own process table, own hostname, no capabilities, no new privileges, user nobody
readable   /usr, /bin, /lib*, the interpreter, five small files of /etc
writable   the work directory alone
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from rounds.experiments.sandbox import WORK, Backend, Limits, interpreter

NOBODY: Final = "65534"
SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS: Final = ("ld.so.cache", "alternatives", "localtime", "nsswitch.conf", "passwd")
"""What programs look for in /etc, and nothing that is secret."""
IMAGE: Final = "python:3-slim"
"""The image of the container backends: it must be here already, nothing is ever pulled."""
SECONDS_FOR_A_VERSION: Final = 10


def backends() -> tuple[Backend, ...]:
    """All backends, the first choice first."""
    return (Bubblewrap(), Namespaces(), Container("docker"), Container("podman"))


def _version(*words: str) -> str | None:
    """The version that a tool prints; null when it is not here or says none."""
    if shutil.which(words[0]) is None:
        return None
    with suppress(OSError, subprocess.SubprocessError):
        said = subprocess.run(
            words, capture_output=True, text=True, timeout=SECONDS_FOR_A_VERSION, check=False
        )
        number = re.search(r"\d+(\.\d+)+", said.stdout)
        return number[0] if said.returncode == 0 and number else None
    return None


def _readable() -> Iterable[str]:
    """Paths that a program may read: the system's programs and libraries, and the interpreter."""
    prefix = str(interpreter())
    yield from (path for path in SYSTEM if os.path.isdir(path) and not os.path.islink(path))
    if not prefix.startswith("/usr"):
        yield prefix


def _links() -> Iterable[tuple[str, str]]:
    """On most systems /bin and /lib lead into /usr."""
    return ((path, os.readlink(path)) for path in SYSTEM if os.path.islink(path))


def _settings() -> Iterable[str]:
    return (f"/etc/{name}" for name in SETTINGS if os.path.exists(f"/etc/{name}"))


def _as_nobody() -> list[str]:
    """Root stays root for the kernel's count of processes, so it becomes nobody before the program starts."""
    words = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--bounding-set=-all"]
    return [*words, "--inh-caps=-all", "--no-new-privs"]


class Bubblewrap:
    """`bwrap`: the tool under Flatpak; small, and made for this."""

    name: str = "bubblewrap"

    def version(self) -> str | None:
        return _version("bwrap", "--version")

    def command(
        self, launcher: Sequence[str], work: Path, limits: Limits, environment: Mapping[str, str]
    ) -> list[str]:
        del limits
        is_root = os.geteuid() == 0
        words = [
            "bwrap",
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-uts",
            "--unshare-cgroup-try",
        ]
        if is_root:
            for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
                words += ["--cap-add", capability]
        else:
            words += ["--unshare-user", "--uid", NOBODY, "--gid", NOBODY]
        words += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"]
        for path in _readable():
            for above in reversed(Path(path).parents[:-1]):
                words += [
                    "--perms",
                    "0755",
                    "--dir",
                    str(above),
                ]  # a way to the interpreter, and nothing beside it
            words += ["--ro-bind", path, path]
        for path, target in _links():
            words += ["--symlink", target, path]
        for path in _settings():
            words += ["--ro-bind", path, path]
        words += [
            "--proc",
            "/proc",
            "--ro-bind",
            "/proc/sys",
            "/proc/sys",
            "--dev",
            "/dev",
            "--bind",
            str(work),
            WORK,
            "--remount-ro",
            "/",
            "--chdir",
            WORK,
        ]
        for name, value in environment.items():
            words += ["--setenv", name, value]
        return [*words, "--", *(_as_nobody() if is_root else ()), *launcher]

    def end(self, work: Path) -> None:
        """What runs inside dies with the command."""


class Namespaces:
    """`unshare` and `mount` of util-linux: the kernel's namespaces by hand, for systems without bubblewrap."""

    name: str = "namespaces"

    def version(self) -> str | None:
        return _version("unshare", "--version")

    def command(
        self, launcher: Sequence[str], work: Path, limits: Limits, environment: Mapping[str, str]
    ) -> list[str]:
        del limits
        words = [
            "setpriv",
            "--pdeathsig",
            "KILL",
            "unshare",
        ]  # what is inside ends with moot, however moot ends
        words += ["--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child=KILL"]
        words += ["--propagation", "private"]
        if os.geteuid() == 0:
            # For the kernel, root of a user namespace that root made is root: the settings in /proc/sys are its own.
            inner = _as_nobody()
        else:
            words += ["--user", "--map-root-user"]
            inner = ["unshare", "--user", "--map-user", NOBODY, "--map-group", NOBODY]
            inner += ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
        cleared = ["env", "-i", *(f"{name}={value}" for name, value in environment.items())]
        return [*words, "/bin/sh", "-euc", self._script(work), "sh", *inner, *cleared, *launcher]

    def end(self, work: Path) -> None:
        """What runs inside dies with the command."""

    @staticmethod
    def _script(work: Path) -> str:
        """Build a root of read-only binds beside the work directory, move into it, drop the old one."""
        root = shlex.quote(str(work.parent / "root"))
        lines = [f"mkdir {root}", f"mount -t tmpfs -o mode=755,size=1m tmpfs {root}", f"cd {root}"]
        lines += [
            f"mkdir -p .{shlex.quote(path)}" for path in (*_readable(), "/etc", "/dev", "/proc", "/old", WORK)
        ]
        lines += [f"ln -s {shlex.quote(target)} .{path}" for path, target in _links()]
        for path in _readable():
            quoted = shlex.quote(path)
            lines += [f"mount --rbind {quoted} .{quoted}", f"mount -o remount,bind,ro,nosuid,nodev .{quoted}"]
        for path in _settings():
            lines.append(f"cp -rL {path} .{path} 2>/dev/null || true")
        for device in ("null", "zero", "full", "random", "urandom"):
            lines += [f"touch ./dev/{device}", f"mount --bind /dev/{device} ./dev/{device}"]
        lines += [
            f"mount --bind {shlex.quote(str(work))} .{WORK}",
            "mount -t proc -o nosuid,nodev,noexec proc ./proc",
            "mount --bind ./proc/sys ./proc/sys",
            "mount -o remount,bind,ro,nosuid,nodev,noexec ./proc/sys",
        ]
        lines += ["hostname sandbox", "pivot_root . old", "cd /", "umount -l /old", "rmdir /old"]
        lines += [
            "mount -o remount,bind,ro /",
            f"cd {WORK}",
            "set +e",
            '"$@"',
            "ended=$?",
            "exit $ended",
        ]  # no exec: the first process ignores signals
        return "\n".join(lines)


class Container:
    """`docker` or `podman` with an image that is here already; the heaviest, tried last."""

    def __init__(self, program: str) -> None:
        self.name = program

    def version(self) -> str | None:
        return _version(self.name, "version", "--format", "{{.Client.Version}}")

    def command(
        self, launcher: Sequence[str], work: Path, limits: Limits, environment: Mapping[str, str]
    ) -> list[str]:
        words = [
            self.name,
            "run",
            "--rm",
            "--pull",
            "never",
            "--name",
            self._container(work),
            "--network",
            "none",
        ]
        words += [
            "--read-only",
            "--cap-drop",
            "ALL",
            "--security-opt",
            "no-new-privileges",
            "--hostname",
            "sandbox",
        ]
        words += ["--user", f"{NOBODY}:{NOBODY}", "--pids-limit", str(limits.processes), "--workdir", WORK]
        words += ["--memory", str(limits.memory_bytes), "--volume", f"{work}:{WORK}"]
        path = "/usr/local/bin:/usr/bin:/bin"
        for name, value in {**environment, "PATH": path}.items():
            words += ["--env", f"{name}={value}"]
        return [*words, IMAGE, *launcher]

    def end(self, work: Path) -> None:
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [self.name, "kill", self._container(work)], capture_output=True, timeout=30, check=False
            )

    @staticmethod
    def _container(work: Path) -> str:
        return f"moot-{work.parent.name}"
