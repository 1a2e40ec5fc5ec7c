"""The sandbox: a program with its files, run without a network, a home, an environment or the parent's files.

bubblewrap.py has the words that shut a program in; this file starts them, watches the program, and ends it whole.
Every bound of `Limits` is held here or by the kernel. Nothing is ever run unconfined: where bubblewrap cannot set up
its walls, no program starts and `SandboxBroken` is raised.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Literal

from ledger.state.experiments import FILE_NAME
from rounds.experiments import bubblewrap
from rounds.experiments.bubblewrap import NAME, WORK, interpreter
from rounds.experiments.left_behind import prefix_of_ours, remove_left_behind

READY: Final = b"\x06"
"""What the launcher inside writes to stderr when the walls stand; it is none of the program's output."""
SECONDS_TO_END: Final = 3.0
SECONDS_BETWEEN_LOOKS: Final = 0.02
CHUNK: Final = 65_536
OUR_PROCESSES: Final = 3
"""Those of bubblewrap, above the program."""

Ended = Literal["exit", "signal", "wall", "memory", "processes", "disk", "output", "not_started"]
"""How a program ended: by itself, by a signal, or by us at a limit; or it never began."""


class SandboxBroken(Exception):
    """The walls could not be set up: no program was started. The text is what bubblewrap wrote."""


class SandboxInterrupted(Exception):
    """Somebody ended moot while a program ran: it was ended too, and its run counts for nothing."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one program; processes, memory and files are those of all that it starts, together."""

    wall_seconds: int = 60
    cpu_seconds: int = 60
    """Of each process; together they are bounded by wall time and processes."""
    memory_bytes: int = 512 * 1024 * 1024
    processes: int = 32
    file_bytes: int = 16 * 1024 * 1024
    """Of one file."""
    disk_bytes: int = 64 * 1024 * 1024
    """Of all files in the work directory."""
    kept_bytes: int = 65_536
    """What is kept of each of stdout and stderr; the hash is that of the whole."""
    out_bytes: int = 16 * 1024 * 1024
    """What may be written to stdout and stderr before the program is ended."""


@dataclass(frozen=True)
class Job:
    """A program to run: its files by name, its words (no shell), and which files it leaves behind."""

    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    outputs: tuple[str, ...] = ()
    seed: int = 0
    limits: Limits = Limits()


@dataclass(frozen=True)
class Capture:
    """What a stream carried: the hash and length of the whole, and its beginning."""

    sha256: str
    length: int
    kept: bytes


@dataclass(frozen=True)
class SandboxRun:
    """What became of a job. `exit` is null for a program that a signal or a limit ended."""

    ended: Ended
    exit: int | None
    signal: int | None
    stdout: Capture
    stderr: Capture
    outputs: Mapping[str, bytes]
    ms: int


def search_path() -> str:
    """Where a program's first word is looked for."""
    return f"{interpreter() / 'bin'}:/usr/bin:/bin"


def run_job(job: Job, is_interrupted: Callable[[], bool] | None = None) -> SandboxRun:
    """Run a job in a fresh work directory, and take that away again.

    `is_interrupted` is asked while it runs. Raises `SandboxBroken` when the walls do not stand or the program is not
    there, `SandboxInterrupted`, and `ValueError` for names with a path.
    """
    with work_directory(job) as work:
        return run_in(job, work, is_interrupted)


@contextmanager
def work_directory(job: Job) -> Generator[Path]:
    """A fresh directory with the job's files, gone afterwards with all that a program left in it."""
    names = [name for name in (*job.files, *job.outputs) if not FILE_NAME.fullmatch(name)]
    if names:
        raise ValueError(f"{names[0]!r} is not a plain file name")
    remove_left_behind()
    with tempfile.TemporaryDirectory(prefix=prefix_of_ours(), ignore_cleanup_errors=True) as above:
        work = Path(above, "work")
        work.mkdir()
        for name, content in job.files.items():
            work.joinpath(name).write_bytes(content)
            work.joinpath(name).chmod(0o755)
        # Inside, root is nobody: the directory must be writable for everybody who can reach it.
        Path(above).chmod(0o711)
        work.chmod(0o777)
        yield work


def _is_there(job: Job) -> bool:
    first = job.argv[0]
    if first.startswith("./"):
        return first[2:] in job.files
    return "/" not in first and shutil.which(first, path=search_path()) is not None


def _environment(seed: int) -> dict[str, str]:
    return {
        "PATH": search_path(),
        "HOME": WORK,
        "TMPDIR": WORK,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(seed % 2**32),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MOOT_SEED": str(seed),
    }


def _launcher(job: Job) -> list[str]:
    """Say that the walls stand, set the kernel's limits, become the program."""
    limits = job.limits
    bounds = [
        f"--cpu={limits.cpu_seconds}",
        f"--as={limits.memory_bytes}",
        f"--fsize={limits.file_bytes}",
        f"--nproc={limits.processes}",
        "--core=0",
        "--nofile=256",
    ]
    say = f"printf '\\{READY[0]:03o}' >&2; exec \"$@\""
    return ["/bin/sh", "-c", say, "sh", "prlimit", *bounds, "--", *job.argv]


def run_in(job: Job, work: Path, is_interrupted: Callable[[], bool] | None = None) -> SandboxRun:
    """Run a job whose files lie in `work`; raises `SandboxBroken` as `run_job` does."""
    if not _is_there(job):
        raise SandboxBroken(
            f"{job.argv[0]!r} is neither a file of the experiment nor a program in {search_path()}"
        )
    words = bubblewrap.command(_launcher(job), work, _environment(job.seed))
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        )
    except OSError as error:
        raise SandboxBroken(
            f"{words[0]} cannot be started: {(error.strerror or str(error)).lower()}"
        ) from None
    assert process.stdout is not None, "stdout is a pipe"
    assert process.stderr is not None, "stderr is a pipe"
    streams = (_Stream(process.stdout, job.limits), _Stream(process.stderr, job.limits, READY))
    try:
        beyond = _watched(process, streams, work, job.limits, began, is_interrupted or _never)
    finally:
        _end(process)
        for stream in streams:
            stream.thread.join(SECONDS_TO_END)
    if any(stream.thread.is_alive() for stream in streams):
        raise SandboxBroken(f"{NAME} did not end all that the program had started")
    ms = round((time.monotonic() - began) * 1000)
    out, err = (stream.capture() for stream in streams)
    if not streams[1].is_ready:
        said = err.kept.decode("utf-8", "replace").strip().splitlines()
        raise SandboxBroken(said[-1] if said else f"{NAME} ended with exit code {process.returncode}")
    code = process.returncode
    by_signal = -code if code < 0 else code - 128 if code > 128 else None
    outputs = {} if beyond else _outputs(work, job)
    if beyond is not None:
        return SandboxRun(beyond, None, None, out, err, outputs, ms)
    if by_signal is not None:
        return SandboxRun("signal", None, by_signal, out, err, outputs, ms)
    return SandboxRun("exit", code, None, out, err, outputs, ms)


def _outputs(work: Path, job: Job) -> dict[str, bytes]:
    """The declared files that are there: plain files alone, never through a link out of the work directory."""
    found: dict[str, bytes] = {}
    for name in job.outputs:
        path = work / name
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                found[name] = file.read(job.limits.file_bytes)
    return found


def _watched(
    process: subprocess.Popen[bytes],
    streams: Sequence[_Stream],
    work: Path,
    limits: Limits,
    began: float,
    is_interrupted: Callable[[], bool],
) -> Ended | None:
    """Look at a running program until it ends; the limit that it went beyond, if one."""
    exceeded: tuple[tuple[Ended, Callable[[], bool]], ...] = (
        ("wall", lambda: time.monotonic() - began > limits.wall_seconds),
        ("output", lambda: sum(stream.length for stream in streams) > limits.out_bytes),
        ("memory", lambda: _resident_bytes(process.pid) > limits.memory_bytes),
        ("processes", lambda: len(_descendants(process.pid)) > limits.processes + OUR_PROCESSES),
        ("disk", lambda: _disk_bytes(work) > limits.disk_bytes),
    )
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_BETWEEN_LOOKS)
            return None
        if is_interrupted():
            raise SandboxInterrupted
        for name, is_exceeded in exceeded:
            if is_exceeded():
                return name


def _never() -> bool:
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the group of the command; the kernel kills what is in the process namespace that dies with it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for one in found:  # grows while it is walked: children of children
        with suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found.extend(int(word) for word in task.joinpath("children").read_text("ascii").split())
    return found


def _resident_bytes(pid: int) -> int:
    total = 0
    for one in _descendants(pid):
        with suppress(OSError, IndexError, ValueError):
            total += int(Path(f"/proc/{one}/statm").read_text("ascii").split()[1])
    return total * os.sysconf("SC_PAGE_SIZE")


def _disk_bytes(work: Path) -> int:
    total = 0
    for directory, _, names in os.walk(work):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(directory, name)).st_blocks * 512
    return total


class _Stream:
    """A pipe read to its end by a thread of its own: hashed whole, its beginning kept."""

    def __init__(self, pipe: IO[bytes], limits: Limits, ready: bytes = b"") -> None:
        self._pipe = pipe
        self._ready = ready
        self.is_ready = False
        self._kept_max = limits.kept_bytes
        self._kept = bytearray()
        self._hash = hashlib.sha256()
        self.length = 0
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with self._pipe:
            if self._ready:
                first = os.read(self._pipe.fileno(), 1)
                self.is_ready = first == self._ready
                self._take(b"" if self.is_ready else first)
            while piece := os.read(self._pipe.fileno(), CHUNK):
                self._take(piece)

    def _take(self, piece: bytes) -> None:
        self._hash.update(piece)
        self.length += len(piece)
        self._kept += piece[: max(0, self._kept_max - len(self._kept))]

    def capture(self) -> Capture:
        return Capture(self._hash.hexdigest(), self.length, bytes(self._kept))
