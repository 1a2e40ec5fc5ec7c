"""The sandbox: a program with its files, run without a network, a home, an environment or the parent's files.

bubblewrap.py has the words that shut a program in, seccomp.py the system calls that it may not make; this file starts
them, watches the program, and ends it whole. Nothing is ever run unconfined: where bubblewrap cannot set up its walls,
no program starts and `SandboxBroken` is raised.

No file of a program is ever on this machine's disk: inputs go in through descriptors, and the work directory is a
tmpfs that the sandbox alone has, and that is gone with it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Final, Literal

from ledger.plain_text import visible
from ledger.state.experiments import FILE_NAME
from rounds.experiments import bubblewrap, seccomp
from rounds.experiments.bubblewrap import NAME, WORK, interpreter
from rounds.experiments.usage import (
    ControlGroup,
    Usage,
    control_group,
    descendants,
    in_use,
    is_alive,
    opened_in,
    send,
    stopped,
    usage_of,
)

READY: Final = b"\x06"
"""Byte that the launcher inside writes to stderr when the walls are up; it is not part of the program's output."""
SECONDS_TO_END: Final = 10.0
SECONDS_BETWEEN_LOOKS: Final = 0.01
GROWTH: Final = 4e9
"""Bytes per second by which programs can fill memory: what the bus of a large machine brings, with all processors."""
SECONDS_UNTIL_COVERED: Final = 0.001
CHUNK: Final = 65_536
OUR_PROCESSES: Final = 3
"""Processes of bubblewrap, above the program."""
SLACK: Final = 16
"""The tmpfs holds a sixteenth more bytes and files than the limits, so that a program beyond one is seen and ended."""

Ended = Literal["exit", "signal", "wall", "memory", "processes", "disk", "output", "not_started"]
"""End of a program: by itself, by a signal, or by moot at a limit; or it never began."""


class SandboxBroken(Exception):
    """A sandbox whose walls could not be set up: no program was started. The text is bubblewrap's own."""


class SandboxInterrupted(Exception):
    """An interruption of moot while a program ran: the program was ended too, and its run does not count."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one program; processes, memory and files are those of all that it starts, together."""

    wall_seconds: int = 60
    cpu_seconds: int = 60
    """CPU seconds of each process; together they are bounded by wall time and processes."""
    memory_bytes: int = 512 * 1024 * 1024
    processes: int = 32
    file_bytes: int = 16 * 1024 * 1024
    """Bytes of one file."""
    disk_bytes: int = 64 * 1024 * 1024
    """Bytes of all files in the work directory; they are in memory, and count for `memory_bytes` too."""
    inodes: int = 4_096
    """Files and directories, empty ones too, in the work directory."""
    descriptors: int = 128
    """Open files of each process."""
    kept_bytes: int = 65_536
    """Bytes kept of each of stdout and stderr; the hash is that of the whole."""
    out_bytes: int = 16 * 1024 * 1024
    """Bytes read of stdout and stderr together; a program that writes more is ended."""


@dataclass(frozen=True)
class Job:
    """A program to run: its files by name, and its words (no shell)."""

    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    seed: int = 0
    limits: Limits = Limits()


@dataclass(frozen=True)
class Capture:
    """Content of a stream: the hash and length of the whole, and its beginning."""

    sha256: str
    length: int
    kept: bytes


@dataclass(frozen=True)
class SandboxRun:
    """Result of a job. `exit` is null for a program that a signal or a limit ended."""

    ended: Ended
    exit: int | None
    signal: int | None
    stdout: Capture
    stderr: Capture
    ms: int


def search_path() -> str:
    """Return the path on which a program's first word is looked for."""
    return f"{interpreter() / 'bin'}:/usr/bin:/bin"


def run_job(job: Job, is_interrupted: Callable[[], bool] | None = None) -> SandboxRun:
    """Run a job; `is_interrupted` is asked while it runs.

    Raises `SandboxBroken` when the walls cannot be set up or the program is missing, `SandboxInterrupted`, and
    `ValueError` for names with a path.
    """
    for name in job.files:
        # A name with a slash could place a file outside the work directory when it is bound into the sandbox.
        if not FILE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a plain file name")
    if not _is_there(job):
        raise SandboxBroken(
            f"{job.argv[0]!r} is neither a file of the experiment nor a program in {search_path()}"
        )
    if not seccomp.is_supported():
        raise SandboxBroken("moot has no system call filter for this processor")
    # One group per job, made before the program starts, so no process can begin outside it.
    group = control_group(job.limits.memory_bytes)
    try:
        return _run(job, group, is_interrupted or (lambda: False))
    finally:
        if group is not None:
            group.remove()


def _run(job: Job, group: ControlGroup | None, is_interrupted: Callable[[], bool]) -> SandboxRun:
    began = time.monotonic()
    process = _started(job, group)
    assert process.stdout is not None, "stdout is a pipe"
    assert process.stderr is not None, "stderr is a pipe"
    budget = _Budget(job.limits.out_bytes)
    out = _Stream(process.stdout, job.limits.kept_bytes, budget)
    err = _Stream(process.stderr, job.limits.kept_bytes, budget, READY)
    room: int | None = None
    try:
        # From here on the program is ended whatever happens, Ctrl-C included.
        if bubblewrap.limits_files():
            room = _room(process, err)
        exceeded = _watched(process, err, budget, group, job.limits, began, is_interrupted)
        if exceeded is None and room is not None:
            # A program that found no more room may have ended before the next look. What it left is counted.
            exceeded = _exceeded(Usage((), 0, *in_use(os.fstatvfs(room))), job.limits, group)
    finally:
        if room is not None:
            os.close(room)
        _end(process)
        for stream in (out, err):
            # A process that outlived the kill would keep a pipe open; a thread that still reads proves it.
            stream.thread.join(SECONDS_TO_END)
    if out.thread.is_alive() or err.thread.is_alive():
        raise SandboxBroken(f"{NAME} did not end all that the program had started")
    if not err.is_ready:
        raise SandboxBroken(last_line(err.capture(), f"{NAME} ended with exit code {process.returncode}"))
    if budget.is_exceeded:
        # Said here too: a program may have ended before the next look, killed by the closed pipe.
        exceeded = exceeded or "output"
    if group is not None and group.is_exceeded:
        # The kernel killed one process of the program; the others may have gone on as if nothing had happened.
        exceeded = exceeded or "memory"
    ms = round((time.monotonic() - began) * 1000)
    code = process.returncode
    if exceeded is not None:
        return SandboxRun(exceeded, None, None, out.capture(), err.capture(), ms)
    # Shells and bubblewrap report a signal as 128 plus its number.
    if code < 0 or code > 128:
        number = -code if code < 0 else code - 128
        return SandboxRun("signal", None, number, out.capture(), err.capture(), ms)
    return SandboxRun("exit", code, None, out.capture(), err.capture(), ms)


def _room(process: subprocess.Popen[bytes], err: _Stream) -> int | None:
    """Return a descriptor of the work directory's file system, opened while the walls go up."""
    deadline = time.monotonic() + SECONDS_TO_END
    # At least once: on a busy machine the program may begin before the first look.
    while (room := opened_in(process.pid, bubblewrap.ROOM)) is None and err.waits:
        if process.poll() is not None or time.monotonic() > deadline:
            break
        time.sleep(SECONDS_UNTIL_COVERED)
    return room


def _started(job: Job, group: ControlGroup | None) -> subprocess.Popen[bytes]:
    disk_bytes, inodes = (limit + limit // SLACK for limit in (job.limits.disk_bytes, job.limits.inodes))
    with _descriptors([seccomp.program(), *job.files.values()]) as (call_filter, *contents):
        files = dict(zip(job.files, contents, strict=True))
        environment = {
            "PATH": search_path(),
            "HOME": WORK,
            "TMPDIR": WORK,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONHASHSEED": str(job.seed % 2**32),
            # Fixed language, zone and hash seed: the same program must print the same on every machine.
            "PYTHONDONTWRITEBYTECODE": "1",
            "MOOT_SEED": str(job.seed),
        }
        words = bubblewrap.command(_launcher(job), files, call_filter, environment, disk_bytes, inodes)
        if group is not None:
            # The shell enters the group and then becomes bubblewrap, so that every later process
            # is born inside it.
            enter = 'echo $$ > "$0" && exec "$@"'
            words = ["/bin/sh", "-c", enter, str(group.entrance), *words]
        try:
            return subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=(call_filter, *contents),
                cwd="/",
                env=bubblewrap.ENVIRONMENT,
            )
        except OSError as error:
            raise SandboxBroken(
                f"{words[0]} cannot be started: {(error.strerror or str(error)).lower()}"
            ) from None


@contextmanager
def _descriptors(contents: Sequence[bytes]) -> Generator[list[int]]:
    """Yield a descriptor for every content, open while the block runs; it never has a name that others could open."""
    opened: list[int] = []
    try:
        for content in contents:
            # In memory and nameless: an input may be confidential, and a file in /tmp could be read
            # or swapped by others.
            opened.append(os.memfd_create("moot"))
            with os.fdopen(opened[-1], "wb", closefd=False) as file:
                file.write(content)
            os.lseek(opened[-1], 0, os.SEEK_SET)
        yield opened
    finally:
        for descriptor in opened:
            os.close(descriptor)


def last_line(stderr: Capture, otherwise: str) -> str:
    """Return the last line of what a program wrote to stderr, else the other text."""
    lines = stderr.kept.decode("utf-8", "replace").strip().splitlines()
    return visible(lines[-1]) if lines else otherwise


def _is_there(job: Job) -> bool:
    first = job.argv[0]
    # Only the experiment's own files and installed programs run; a path could name anything of this machine.
    if first.startswith("./"):
        return first[2:] in job.files
    return "/" not in first and shutil.which(first, path=search_path()) is not None


def _launcher(job: Job) -> list[str]:
    """Build the words that report the walls as up, set the kernel's limits and become the program."""
    limits = job.limits
    bounds = [
        f"--cpu={limits.cpu_seconds}",
        f"--as={limits.memory_bytes}",
        f"--fsize={limits.file_bytes}",
        f"--nproc={limits.processes}",
        "--core=0",
        f"--nofile={limits.descriptors}",
        "--memlock=65536",
        "--msgqueue=0",
        "--sigpending=256",
    ]
    # The byte is written by the shell that becomes the program, so it proves that every wall before it is up.
    say = f"printf '\\{READY[0]:03o}' >&2; exec \"$@\""
    return ["/bin/sh", "-c", say, "sh", "prlimit", *bounds, "--", *job.argv]


def _watched(
    process: subprocess.Popen[bytes],
    err: _Stream,
    budget: _Budget,
    group: ControlGroup | None,
    limits: Limits,
    began: float,
    is_interrupted: Callable[[], bool],
) -> Ended | None:
    """Watch a running program until it ends; return the limit that it went beyond, if any.

    Where the kernel does not hold the sum of memory, a program that could exceed it before the next look is stopped for
    each look, and runs in between only as long as it cannot fill what is left.
    """
    seconds = SECONDS_BETWEEN_LOOKS
    is_close, looked = False, time.monotonic()
    usage = Usage((process.pid,), 0, 0, 0)
    while True:
        # Popen.wait would wake several times, and each may be late on a busy machine.
        time.sleep(seconds)
        if process.poll() is not None:
            return None
        if is_interrupted():
            raise SandboxInterrupted
        if time.monotonic() - began > limits.wall_seconds:
            return "wall"
        if budget.is_exceeded:
            return "output"
        if group is not None and group.is_exceeded:
            return "memory"
        # Usage is read only once the program runs: bubblewrap's own setup must not count against it.
        if not err.is_ready:
            continue
        still: Sequence[int] = stopped(usage.pids) if is_close else ()
        usage = usage_of(process.pid, WORK, is_exact=is_close)
        if group is None:
            # The next look may come as late as this one: a busy machine wakes moot late.
            reach = SECONDS_BETWEEN_LOOKS + time.monotonic() - looked
            if not is_close and _seconds_left(usage, limits) < reach:
                still = stopped(usage.pids)
                usage = usage_of(process.pid, WORK, is_exact=True)
            lasts = _seconds_left(usage, limits)
            is_close = lasts < reach
            seconds = max(SECONDS_UNTIL_COVERED, min(SECONDS_BETWEEN_LOOKS, lasts / 4))
        if exceeded := _exceeded(usage, limits, group):
            # What is stopped stays so: it is killed next, and may not grow until then.
            return exceeded
        looked = time.monotonic()
        send(still, signal.SIGCONT)


def _seconds_left(usage: Usage, limits: Limits) -> float:
    """Return the time in which a program could fill what is left of its memory, less a part for the time until then."""
    return (limits.memory_bytes - limits.memory_bytes // SLACK - usage.memory_bytes) / GROWTH


def _exceeded(usage: Usage, limits: Limits, group: ControlGroup | None) -> Ended | None:
    # With a control group the kernel counts memory itself, and more exactly than a sum over processes.
    if group is None and _seconds_left(usage, limits) < 0:
        return "memory"
    if len(usage.pids) > limits.processes + OUR_PROCESSES:
        return "processes"
    if usage.disk_bytes > limits.disk_bytes or usage.inodes > limits.inodes:
        return "disk"
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the group of the command, and wait until nothing of it is left.

    The kernel kills what is in the process namespace that dies with the command, but not at once: its first process is
    gone when all others are.
    """
    # Listed before the kill: afterwards orphans no longer lead back to the command.
    inside = descendants(process.pid)[1:]
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # Each by itself too: on a busy machine bubblewrap's processes would have to end one after the other first.
    send(inside, signal.SIGKILL)
    process.wait()
    # The next run must not share the machine with leftovers, so their end is awaited and not assumed.
    deadline = time.monotonic() + SECONDS_TO_END
    while any(map(is_alive, inside)):
        if time.monotonic() > deadline:
            raise SandboxBroken(f"{NAME} did not end all that the program had started")
        time.sleep(SECONDS_BETWEEN_LOOKS)


class _Budget:
    """The bytes that two streams may still bring, together."""

    def __init__(self, length: int) -> None:
        self._left = length
        self._lock = threading.Lock()
        self.is_exceeded = False

    def take(self, length: int) -> int:
        """Return how many of `length` bytes are within the budget."""
        with self._lock:
            # Two readers share the budget, so taking and checking must be one step.
            taken = min(length, self._left)
            self._left -= taken
            # The flag stays set, so that an excess is noticed even after the program has ended by itself.
            self.is_exceeded |= taken < length
            return taken


class _Stream:
    """A pipe read by a thread of its own until it ends or the budget is used up: hashed whole, its beginning kept."""

    def __init__(self, pipe: IO[bytes], kept_max: int, budget: _Budget, ready: bytes = b"") -> None:
        self._pipe = pipe
        self._ready = ready
        self.is_ready = False
        self.waits = True
        """Whether no byte was read yet."""
        self._kept_max = kept_max
        self._budget = budget
        self._kept = bytearray()
        self._hash = hashlib.sha256()
        self._length = 0
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with self._pipe:
            if self._ready:
                # Read alone: the first byte tells whether the walls were up, before any
                # output of the program.
                first = os.read(self._pipe.fileno(), 1)
                self.is_ready = first == self._ready
                self.waits = False
                self._take(b"" if self.is_ready else first)
            while piece := os.read(self._pipe.fileno(), CHUNK):
                taken = self._budget.take(len(piece))
                self._take(piece[:taken])
                # Closing the pipe ends a program that only writes; the watcher notices the rest.
                if taken < len(piece):
                    return

    def _take(self, piece: bytes) -> None:
        self._hash.update(piece)
        self._length += len(piece)
        # The hash covers everything, so that two runs can be compared beyond the bytes that are kept.
        self._kept += piece[: max(0, self._kept_max - len(self._kept))]

    def capture(self) -> Capture:
        """Return what was read so far."""
        return Capture(self._hash.hexdigest(), self._length, bytes(self._kept))
