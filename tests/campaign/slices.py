"""A slice of a campaign: what it counted, what it saw broken, and the file that remembers which slices are done."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

ROOT: Final = Path(__file__).resolve().parents[2]
STATE: Final = ROOT / ".campaign"
MEMORY: Final = Path("/dev/shm")

Counts = Counter[str]
"""What was done, by its words: `kills`, `flips detected`, … All counts of a campaign's slices add up."""


class Broken(AssertionError):
    """A promise was seen broken; the message holds what is needed to see it again."""


class Row(msgspec.Struct, frozen=True):
    """One finished slice. `broken` is empty when every promise held; `sources` names the state of the code."""

    campaign: str
    slice: int
    counts: dict[str, int]
    seconds: float
    sources: str
    broken: str = ""


def expect(holds: object, what: str) -> None:
    """A promise. Raises `Broken`."""
    if not holds:
        raise Broken(what)


@contextmanager
def folder(on_disk: bool = False) -> Iterator[Path]:
    """A directory for one slice: in memory where the machine has such a file system, or on its disk."""
    base = None if on_disk or not MEMORY.is_dir() else MEMORY
    path = Path(tempfile.mkdtemp(prefix="moot-campaign-", dir=base))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)  # what a campaign leaves behind concerns nobody


def read_rows(state: Path, campaign: str) -> dict[int, Row]:
    """The finished slices of a campaign; of a slice done twice the later counts."""
    path = state / f"{campaign}.jsonl"
    if not path.exists():
        return {}
    lines = path.read_bytes().split(b"\n")
    rows = [msgspec.json.decode(line, type=Row) for line in lines[:-1]]
    return {row.slice: row for row in rows}


def keep_row(state: Path, row: Row) -> None:
    """Remember a finished slice. One write, so that an interrupted campaign never leaves half a line."""
    state.mkdir(exist_ok=True)
    handle = os.open(state / f"{row.campaign}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.write(handle, msgspec.json.encode(row) + b"\n")
    finally:
        os.close(handle)


def sources() -> str:
    """The commit that is being tried, or `unknown` outside a checkout."""
    try:
        said = subprocess.run(
            ["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"], capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return said.stdout.decode().strip()


def machine() -> str:
    """The machine in one line, without its name."""
    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
