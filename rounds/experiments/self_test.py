"""The self-test of a sandbox: a program inside really tries to get out, and to go beyond its limits.

The sandbox is used only after every attempt failed. The tests prove that the attempts can succeed: they run the
same probe in the open: one that fails everywhere would prove nothing.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from rounds.experiments import bubblewrap
from rounds.experiments.bubblewrap import NAME, interpreter
from rounds.experiments.control_group import control_group
from rounds.experiments.sandbox import (
    Job,
    Limits,
    SandboxBroken,
    last_line,
    run_job,
)

PROBE: Final = Path(__file__).with_name("probe.py")
LIMITS: Final = Limits(
    wall_seconds=20,
    cpu_seconds=10,
    memory_bytes=256 * 2**20,
    processes=12,
    file_bytes=2**20,
    disk_bytes=8 * 2**20,
)
INSTALLERS: Final = (
    ("apt-get", "apt-get install bubblewrap"),
    ("dnf", "dnf install bubblewrap"),
    ("pacman", "pacman -S bubblewrap"),
    ("apk", "apk add bubblewrap"),
    ("zypper", "zypper install bubblewrap"),
)
"""Package managers, each with its line that installs bubblewrap."""
TOO_OLD: Final = (
    f"it is too old; {'.'.join(map(str, bubblewrap.OLDEST))} is the first that limits all it should"
)
LINGERING: Final = """
import os, sys, time
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(write, b"alive")
        time.sleep(60)
    os._exit(0)
os.read(read, 5)
while True:
    print("x" * 9999)
"""
"""Program that starts a process in a new session, then goes beyond a limit: all of it must be ended."""


WATCHED: Final = {
    "memory_together": (
        "memory",
        "import os, time\nfor _ in range(2): os.fork()\nmemory = b'x' * (90 * 2**20)\ntime.sleep(20)",
    ),
    "files": ("disk", "n = 0\nwhile True:\n    open(f'f{n}', 'w').close()\n    n += 1"),
}
"""Limits that moot watches because the kernel does not hold them: name → expected end, program."""


@dataclass(frozen=True)
class SelfTest:
    """Result of a self-test: passed; or the attempts that got through; or why it could not be run."""

    version: str | None
    passed: bool
    attempts: int
    escaped: tuple[str, ...]
    trouble: str | None
    has_group: bool = False
    """Whether a control group holds the memory of all processes together; without one it is watched."""

    @property
    def text(self) -> str:
        """Return one line for people."""
        if self.version is None:
            return f"{NAME} is not installed"
        if self.passed:
            watched = (
                "number of files" if self.has_group else "memory of all processes together, number of files"
            )
            return (
                f"{NAME} {self.version}, self-test passed: {self.attempts} attempts to get out failed; "
                f"watched, not enforced by the kernel: {watched}"
            )
        if self.escaped:
            return f"{NAME} {self.version} does not hold: {', '.join(self.escaped)}"
        return f"{NAME} {self.version} cannot be used: {self.trouble}"

    @property
    def fix(self) -> str:
        """Return the next step for a person where the test did not pass."""
        if self.trouble == TOO_OLD:
            return "install a newer bubblewrap, or move to a newer release of your system"
        if self.version is not None:
            return (
                "run moot where unprivileged user namespaces are allowed; most containers do not allow them"
            )
        return next((line for tool, line in INSTALLERS if shutil.which(tool)), "install bubblewrap (bwrap)")


def self_test() -> SelfTest:
    """Try to get out of the sandbox, for real; takes about a second."""
    version = bubblewrap.version()
    if version is None:
        return SelfTest(None, False, 0, (), None)
    if tuple(map(int, version.split(".")[:2])) < bubblewrap.OLDEST:
        return SelfTest(version, False, 0, (), TOO_OLD)
    try:
        tried = _tried()
        # The slower tests run only when nothing escaped; a wall that is open is reason enough.
        if not any(tried.values()):
            # Watching reads /proc, which may be closed here; then a program ends by its wall time instead.
            runs = {
                name: run_job(Job(("python3", "-c", program), limits=LIMITS))
                for name, (_, program) in WATCHED.items()
            }
            tried |= {name: run.ended != WATCHED[name][0] for name, run in runs.items()}
        lingers = not any(tried.values()) and _lingers()
    except (SandboxBroken, msgspec.DecodeError, OSError) as error:
        return SelfTest(version, False, 0, (), str(error))
    # `ended_whole` is a test of its own: a process that outlives its program could act without any limit.
    escaped = tuple(name for name, got_through in (tried | {"ended_whole": lingers}).items() if got_through)
    # A group is made and removed here only to learn whether this machine allows one.
    group = control_group(LIMITS.memory_bytes)
    if group is not None:
        group.remove()
    return SelfTest(version, not escaped, len(tried) + 1, escaped, None, has_group=group is not None)


def _tried() -> dict[str, bool]:
    with (
        tempfile.TemporaryDirectory(prefix="moot-secret-") as directory,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        secret = Path(directory, "secret.txt")
        # A fresh random secret: that its file cannot be read is real, and nothing of the person is at risk.
        secret.write_text(secrets.token_hex(16))
        secret_names = [name for name in os.environ if name.endswith(("KEY", "TOKEN", "SECRET"))]
        bounds = {
            "port": listener.getsockname()[1],
            "secret": str(secret),
            "homes": list(_of_home()),
            # An installation under /usr is readable inside on purpose, so there the secret is tried twice.
            "checkout": str(Path(__file__).parent) if not str(__file__).startswith("/usr") else str(secret),
            "parent": os.getpid(),
            "variables": [*secret_names, "USER", "LOGNAME"],
            "memory": LIMITS.memory_bytes,
            "file": LIMITS.file_bytes,
            "processes": LIMITS.processes,
            "cpu": LIMITS.cpu_seconds,
        }
        files = {"probe.py": PROBE.read_bytes(), "given.json": msgspec.json.encode(bounds)}
        run = run_job(Job(("python3", "probe.py"), files, limits=LIMITS))
    if run.ended != "exit" or run.exit != 0:
        raise SandboxBroken(
            f"the probe ended by {run.ended}: {last_line(run.stderr, f'exit code {run.exit}')}"
        )
    return msgspec.json.decode(run.stdout.kept, type=dict[str, bool])


def _of_home() -> Iterable[str]:
    """Yield what is in the home directory, except for the way to the interpreter."""
    home = Path.home()
    with suppress(OSError):
        yield from (
            str(path) for path in sorted(home.iterdir())[:50] if not interpreter().is_relative_to(path)
        )


def _lingers() -> bool:
    """Return whether a process of a program goes on after a limit ended it."""
    # A random word in the command line finds the leftover process and no other one.
    mark = secrets.token_hex(16)
    job = Job(
        ("python3", "linger.py", mark),
        {"linger.py": LINGERING.encode()},
        limits=Limits(wall_seconds=20, out_bytes=2**20),
    )
    run = run_job(job)
    if run.ended != "output":
        raise SandboxBroken(f"a program that never ends was ended by {run.ended}")
    for words in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark.encode() in words.read_bytes():
                return True
    return False
