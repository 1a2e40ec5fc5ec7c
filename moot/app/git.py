"""Files of a directory that git would take, and changes between two commits, read without running git.

`git_reader` does the work in a process with limits on memory, time and files. A hostile repository can therefore
neither start a program, nor reach an address, nor exhaust this process.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from moot.errors import usage

SECONDS_MAX: Final = 90.0
RANGE: Final = re.compile(r"git:(?P<before>[^\s.-][^\s]*?)(?P<dots>\.\.\.?)(?P<after>[^\s.-][^\s]*)?")


class TouchedFile(NamedTuple):
    """A file as a change leaves it, with its `size` in bytes.

    A deleted file has no `mode`. A file that is too large, or not a plain one, has no `content`.
    """

    path: str
    mode: int | None
    size: int | None
    content: bytes | None


class RepositoryChange(NamedTuple):
    """The difference between two commits: `name` as the person wrote it, both ids, unified diff and touched files."""

    name: str
    before: str
    after: str
    diff: bytes
    files: tuple[TouchedFile, ...]


def files_in(directory: Path) -> list[Path]:
    """Return the paths below a directory that git would take, relative to it, in order.

    Outside a repository the rules of `.gitignore` files apply all the same. Raises `MootError`.
    """
    answer = _read(str(directory), action="directory", place=str(directory))
    return [Path(os.fsdecode(b64decode(path))) for path in answer["paths"]]


def read_change(text: str, place: Path) -> RepositoryChange:
    """Return the change that `git:A..B`, `git:A...B` (since the two parted) or `git:A..` (to HEAD) names.

    Raises `MootError`.
    """
    parts = RANGE.fullmatch(text)
    if parts is None:
        raise usage(f"{text!r} names no two commits", "write git:A..B, such as git:main..HEAD", "git:")
    answer = _read(
        text,
        action="change",
        place=str(place),
        before=parts["before"],
        after=parts["after"] or "HEAD",
        parted=parts["dots"] == "...",
    )
    files = tuple(
        TouchedFile(
            os.fsdecode(b64decode(row["path"])),
            row["mode"],
            row["size"],
            None if row["content"] is None else b64decode(row["content"]),
        )
        for row in answer["files"]
    )
    diff = b"".join(b64decode(row["diff"]) for row in answer["files"])
    return RepositoryChange(text.removeprefix("git:"), answer["before"], answer["after"], diff, files)


def _read(where: str, **request: Any) -> dict[str, Any]:
    """Ask the reader process. Raises `MootError` with its refusal."""
    # -I: neither the working directory nor the environment can put a module of its own in place of ours.
    try:
        ended = subprocess.run(
            [sys.executable, "-I", "-m", "moot.app.git_reader"],
            input=orjson.dumps(request),
            capture_output=True,
            # Longer than the reader's own 60 s of CPU time, which it cannot spend while it waits for a disk.
            timeout=SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise usage(f"reading took more than {SECONDS_MAX:g} seconds", "name single files", where) from None
    # The kernel kills a reader that exceeds a limit, so there is no answer to quote.
    if ended.returncode != 0 or not ended.stdout:
        what = "this repository cannot be read within the limits (1 GiB of memory, 60 s)"
        raise usage(what, "name a smaller directory, two closer commits, or single files", where)
    answer: dict[str, Any] = orjson.loads(ended.stdout)
    if "refused" in answer:
        what, fix = answer["refused"]
        raise usage(what, fix, where)
    return answer
