"""Files of a directory that git would take, and changes between two commits, read without running git.

The work is done in `git_reader`, a process with limits on memory, time and files, so that a stranger's repository can
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
    """A file that a change touches, after it: `mode` is None where it was deleted, `content` is None where it is not a
    plain file or too large; `size` in bytes."""

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
    """Return paths below a directory, as seen from it, in order: all that git would take.

    Outside a repository the rules of `.gitignore` files hold all the same. Raises `MootError`.
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
    """Ask the reader. Raises `MootError` with its words."""
    # -I: neither the working directory nor the environment can put a module of its own in place of ours.
    try:
        ended = subprocess.run(
            [sys.executable, "-I", "-m", "moot.app.git_reader"],
            input=orjson.dumps(request),
            capture_output=True,
            timeout=SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise usage(f"reading took more than {SECONDS_MAX:g} seconds", "name single files", where) from None
    if ended.returncode != 0 or not ended.stdout:
        what = "this repository cannot be read within the limits (1 GiB of memory, 60 s)"
        raise usage(what, "name a smaller directory, two closer commits, or single files", where)
    answer: dict[str, Any] = orjson.loads(ended.stdout)
    if "refused" in answer:
        what, fix = answer["refused"]
        raise usage(what, fix, where)
    return answer
