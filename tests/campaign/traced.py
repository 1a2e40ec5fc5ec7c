"""Whole processes of `moot` under strace, which fails their system calls on the run's files one by one, for real."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from ledger.audit.verify import verify
from ledger.store.store import RunStore
from tests.campaign.slices import ROOT, Counts, expect, folder
from tests.rounds.openings import begin, rows

CALLS: Final = {
    "openat": ("EIO", "ENOSPC"),
    "write": ("EIO", "ENOSPC"),
    "fsync": ("EIO",),
    "fdatasync": ("EIO",),
    "rename": ("EIO", "ENOSPC"),
    "fcntl": ("EIO", "ENOLCK"),
    "ftruncate": ("EIO",),
    "newfstatat": ("EIO",),
    "fstat": ("EIO",),
    "lseek": ("EIO",),
    "read": ("EIO",),
    "pread64": ("EIO",),
    "unlink": ("EIO",),
    "close": ("EIO",),
    "getdents64": ("EIO",),
}
"""System call → the errors that it meets. Those of C libraries that use others are not seen."""
TIMES_MAX: Final = 200
REPLY: Final = {"sections": [{"name": "main", "text": "Hello."}], "responds_to": [], "options": []}


class Process(NamedTuple):
    """A verb with its arguments behind the run, and the kind of the event that it writes."""

    verb: str
    arguments: tuple[str, ...]
    kind: str


PROCESSES: Final = (
    Process("note", ("hello",), "amendment"),
    Process("submit", ("r1.B.action", "reply.json"), "statement"),
)


def processes(index: int, slices: int) -> Counts:
    """Every system call of the table on the files of a run, once with every error."""
    if shutil.which("strace") is None:
        return Counts({"slices passed over, for want of strace": 1})
    counts = Counts()
    with folder() as place:
        begin(place / "before", rows(1))
        (place / "reply.json").write_text(json.dumps(REPLY))
        for number, (process, call, error) in enumerate(_kinds()):
            if number % slices == index:
                counts["faults"] += _every_time(place, process, call, error)
    return counts


def _kinds() -> Iterator[tuple[Process, str, str]]:
    for process in PROCESSES:
        for call, errors in CALLS.items():
            for error in errors:
                yield process, call, error


def _every_time(place: Path, process: Process, call: str, error: str) -> int:
    """The n-th such call fails, for n = 1, 2, …, until there are no more; how many there were."""
    for time in range(1, TIMES_MAX):
        run = place / "run"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(place / "before", run)
        traced = ["strace", "-f", "-qq", "-o", str(place / "log"), *_on_files_of(run, call)]
        traced += ["-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={time}"]
        command = [sys.executable, "-m", "moot", process.verb, str(run), *process.arguments]
        ended = subprocess.run(
            [*traced, *command], cwd=place, env={"PYTHONPATH": str(ROOT)}, capture_output=True, check=False
        )
        if "INJECTED" not in (place / "log").read_text("utf-8", "replace"):
            return time - 1
        _holds(run, process, ended, f"{process.verb}: {error} at {call} {time}")
    raise AssertionError(f"{process.verb} makes more than {TIMES_MAX} calls of {call}")


def _on_files_of(run: Path, call: str) -> Iterator[str]:
    """Only calls on the run's files are failed; strace does not follow both names of a rename, so there all are."""
    names = (
        "",
        "blobs.jsonl",
        "lock",
        "head",
        "head.tmp",
        "claims.jsonl",
        "verifications.jsonl",
        "decisions.jsonl",
    )
    for name in names if call != "rename" else ():
        yield from ("-P", str(run / name).rstrip("/"))


def _holds(run: Path, process: Process, ended: subprocess.CompletedProcess[bytes], what: str) -> None:
    said = ended.stderr.decode("utf-8", "replace")
    expect("Traceback" not in said and "fault of moot's" not in said, f"{what}: {said}")
    expect(ended.returncode in (0, 2, 3), f"{what}: exit code {ended.returncode}: {said}")
    report = verify(run)
    expect(report.ok, f"{what}: {report.problems}")
    written = any(event.kind == process.kind for event in RunStore(run).events())
    expect(written or ended.returncode != 0, f"{what}: said done, and is not there")
    expect(ended.returncode == 0 or said.count("\n") == 1, f"{what}: not one line: {said}")
