"""The bench: a sandbox that passed its self-test here, and one run of a planned experiment on it.

The result of a program is returned as an event and its blobs; nothing is written here.

In the self-test a program inside really tries to get out, and to go beyond its limits. The sandbox is used only after
every attempt failed. The tests prove that the attempts can succeed: they run the same probe in the open,
because one that fails everywhere would prove nothing.
"""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from ledger.events import ExperimentPlanned, ExperimentRun
from ledger.events.experiments import ExperimentEnvironment, KeptOutput
from ledger.plain_json import decoded
from ledger.state.experiments import Content, Slot, plan_problems
from ledger.store.blobs import hash_of
from rounds.experiments import bubblewrap
from rounds.experiments.bubblewrap import NAME, interpreter
from rounds.experiments.sandbox import Capture, Job, Limits, SandboxBroken, SandboxRun, last_line, run_job
from rounds.experiments.usage import control_group

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
"""Limits that moot may have to watch because the kernel does not hold them everywhere: name → expected end, program."""


@dataclass(frozen=True)
class SelfTest:
    """Result of a self-test: passed; or the attempts that got through; or why it could not be run."""

    version: str | None
    passed: bool
    attempts: int
    escaped: tuple[str, ...]
    trouble: str | None
    watched: tuple[str, ...] = ()
    """Limits that the kernel does not enforce here, so that a program can exceed them until the next look."""

    @property
    def text(self) -> str:
        """Return one line for people."""
        if self.version is None:
            return f"{NAME} is not installed"
        if self.passed:
            text = f"{NAME} {self.version}, self-test passed: {self.attempts} attempts to get out failed"
            if self.watched:
                text += f"; watched, not enforced by the kernel: {', '.join(self.watched)}"
            return text
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
    enforced = {
        "memory of all processes together": group is not None,
        "number of files": bubblewrap.limits_files(),
    }
    watched = tuple(name for name, is_enforced in enforced.items() if not is_enforced)
    return SelfTest(version, not escaped, len(tried) + 1, escaped, None, watched)


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
    return decoded(run.stdout.kept, dict[str, bool])


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


class NoSandbox(Exception):
    """A sandbox that does not hold here although programs are to be run. Nothing is ever run unconfined."""

    exit_code = 2

    def __init__(self, test: SelfTest) -> None:
        self.what = f"no sandbox holds here, and nothing is run without one: {test.text}"
        self.fix = f"{test.fix}; see `moot doctor`"
        super().__init__(self.what)


@dataclass(frozen=True)
class Conducted:
    """One run of a series, ready to be committed: the event, and the bytes that it names."""

    event: ExperimentRun
    blobs: Mapping[str, bytes]


@dataclass(frozen=True)
class Bench:
    """A sandbox that passed its self-test."""

    test: SelfTest

    @property
    def environment(self) -> ExperimentEnvironment:
        """Return where programs run here, for the record."""
        return ExperimentEnvironment(
            interpreter=interpreter_here(),
            platform=f"{platform.system()} {platform.machine()}",
            sandbox=NAME,
            sandbox_version=self.test.version,
            self_test=self.test.passed,
        )

    def conduct(
        self,
        plan: ExperimentPlanned,
        slot: Slot,
        content: Content,
        *,
        started_at: str,
        is_interrupted: Callable[[], bool] | None = None,
    ) -> Conducted:
        """Run one repetition or control; one that could not be started has a note on stderr and no exit code.

        The event is in the plan's round and phase; the caller sets them when it commits the event. Raises
        `SandboxInterrupted`, and then there is nothing to record.
        """
        try:
            run = run_job(job_of(plan, slot, content), is_interrupted)
        # A program that cannot start is a result as well: without an event the series would never end.
        except (SandboxBroken, OSError) as error:
            run = _not_run(f"not run: {error}")
        event = ExperimentRun(
            round=plan.round,
            phase=plan.phase,
            by="controller",
            of=plan.id,
            n=slot.n,
            control=slot.control,
            environment=self.environment,
            exit=run.exit,
            signal=run.signal,
            stdout=_kept(run.stdout),
            stderr=_kept(run.stderr),
            started_at=started_at,
            ms=run.ms,
        )
        blobs = {hash_of(stream.kept): stream.kept for stream in (run.stdout, run.stderr)}
        return Conducted(event, blobs)


def interpreter_here() -> str:
    """Return the Python that runs moot and programs, with its SQLite: `CPython 3.11.7 (SQLite 3.40.1)`."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    try:
        from sqlite3 import sqlite_version
    # Some builds of Python come without SQLite.
    except ImportError:
        return python
    return f"{python} (SQLite {sqlite_version})"


def bench_here() -> Bench:
    """Return the sandbox if it really holds here. Raises `NoSandbox`."""
    test = self_test()
    if not test.passed:
        raise NoSandbox(test)
    return Bench(test)


def job_of(plan: ExperimentPlanned, slot: Slot, content: Content) -> Job:
    """Return what is run: the plan's program, or a control's in its place, beside the plan's inputs.

    Raises `SandboxBroken` for a plan that `check` refuses, or a file that is not what was planned: a ledger that was
    written by hand obeys no limits.
    """
    # Checked again before every run: the plan may come from a ledger that another program wrote.
    for problem in plan_problems(plan):
        raise SandboxBroken(f"the plan is refused: {problem}")
    files, argv = plan.files, plan.argv
    for control in plan.controls:
        if slot.control == f"must_{control.must}":
            files, argv = control.files, control.argv
    planned = {file.name: file.sha256 for file in plan.inputs} | {file.name: file.sha256 for file in files}
    named = {name: content(sha256) for name, sha256 in planned.items()}
    for name, sha256 in planned.items():
        # A blob that was changed would run another program than the one that was planned and reviewed.
        if hash_of(named[name]) != sha256:
            raise SandboxBroken(f"{name} is not the file that was planned")
    limits = Limits(
        wall_seconds=plan.limits.wall_seconds,
        cpu_seconds=plan.limits.cpu_seconds,
        memory_bytes=plan.limits.memory_bytes,
        kept_bytes=plan.limits.output_bytes,
    )
    return Job(argv, named, seed=plan.seed, limits=limits)


def _not_run(why: str) -> SandboxRun:
    """Return the record of a program that could not be started, with the reason in place of its stderr."""
    reason = why.encode("utf-8", "replace")
    nothing = Capture(hash_of(b""), 0, b"")
    return SandboxRun("not_started", None, None, nothing, Capture(hash_of(reason), len(reason), reason), 0)


def _kept(stream: Capture) -> KeptOutput:
    return KeptOutput(sha256=stream.sha256, bytes=stream.length, kept=hash_of(stream.kept))
