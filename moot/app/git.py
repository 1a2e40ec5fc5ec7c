"""What git knows of a directory: its files that are not ignored, and what changed between two commits.

Git runs with its own words alone: no hook, no monitor, no external diff and no filter of the repository is started.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from moot.errors import usage

SECONDS_MAX: Final = 60.0
RANGE: Final = re.compile(r"git:(?P<before>[^\s.-][^\s]*?)(?P<dots>\.\.\.?)(?P<after>[^\s.-][^\s]*)?")
SAFE: Final = (
    "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.quotePath=false",
    "-c", "submodule.recurse=false", "--literal-pathspecs", "--no-pager", "--no-optional-locks",
)  # fmt: skip
FILE, LINK, REPOSITORY = "100", "120", "160"
"""Beginnings of the mode of an entry: a file, a symbolic link, another repository."""


class Touched(NamedTuple):
    """A file that a change touches: its path, `before` where it was renamed, the mode and the blob that it has now;
    `blob` is empty where it was deleted."""

    path: str
    before: str | None
    mode: str
    blob: str


class Commits(NamedTuple):
    """Two commits of the repository that holds `place`; `said` is how the person named them."""

    place: Path
    said: str
    before: str
    after: str


def files_in(directory: Path) -> list[Path]:
    """Paths below a directory, as seen from it, in order: all that git would take, whether or not it is a repository.

    Raises `MootError` where git is not there or refuses.
    """
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    inside = _git(directory, "rev-parse", "--is-inside-work-tree", wanted=False)
    if inside is not None and inside.strip() == b"true":
        found = _git(directory, *listing)
    else:
        with tempfile.TemporaryDirectory() as empty:
            _git(Path(empty), "init", "--quiet", "--bare", ".")
            found = _git(
                directory, *listing, before=(f"--git-dir={empty}", f"--work-tree={directory.resolve()}")
            )
    names = (found or b"").split(b"\0")
    return [Path(os.fsdecode(name)) for name in dict.fromkeys(sorted(names)) if name]


def commits(said: str, place: Path) -> Commits:
    """`git:A..B`, `git:A...B` (from where they parted) or `git:A..` (to HEAD). Raises `MootError`."""
    found = RANGE.fullmatch(said)
    if found is None:
        raise usage(f"{said!r} names no two commits", "write git:A..B, such as git:main..HEAD", "git:")
    before, after = (_commit(place, name, said) for name in (found["before"], found["after"] or "HEAD"))
    if found["dots"] == "...":
        base = _git(place, "merge-base", before, after, wanted=False)
        if base is None:
            raise usage(f"{said}: the two have no commit in common", "write git:A..B", "git:")
        before = base.decode().strip()
    return Commits(place, said.removeprefix("git:"), before, after)


def difference(pair: Commits) -> bytes:
    """The change as a unified diff, renames found."""
    return _git(
        pair.place, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--src-prefix=a/",
        "--dst-prefix=b/", pair.before, pair.after, "--",
    ) or b""  # fmt: skip


def touched(pair: Commits) -> Iterator[Touched]:
    """Every file that the change touches, in the order of git."""
    raw = _git(
        pair.place, "diff", "--raw", "-z", "--no-abbrev", "--find-renames", pair.before, pair.after, "--"
    )
    parts = iter(os.fsdecode(part) for part in (raw or b"").split(b"\0"))
    for head in parts:
        if not head:
            continue
        _, mode, _, blob, status = head.split(" ")
        path = next(parts)
        before = None
        if status[0] in "RC":
            before, path = path, next(parts)
        yield Touched(path, before, mode, "" if status == "D" else blob)


def content(pair: Commits, blob: str) -> bytes:
    """The bytes of a blob, as they are stored."""
    return _git(pair.place, "cat-file", "blob", blob) or b""


def _commit(place: Path, name: str, said: str) -> str:
    found = _git(
        place, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", wanted=False
    )
    if found is None:
        raise usage(
            f"no commit {name!r} here ({said})",
            "name two commits, branches or tags of this repository",
            "git:",
        )
    return found.decode().strip()


def _git(place: Path, *words: str, before: Sequence[str] = (), wanted: bool = True) -> bytes | None:
    """What git prints in a directory. None where it fails and that was not `wanted`, else raises `MootError`."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        ran = subprocess.run(
            ["git", *SAFE, *before, *words],
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS_MAX,
            check=False,
        )
    except FileNotFoundError:
        raise usage(
            "git is not here, which says what a directory holds", "install git, or name files", "git"
        ) from None
    except subprocess.TimeoutExpired:
        raise usage(
            f"git took more than {SECONDS_MAX:g} seconds", "name a smaller directory", "git"
        ) from None
    if ran.returncode == 0:
        return ran.stdout
    if not wanted:
        return None
    said = " ".join(ran.stderr.decode("utf-8", "replace").split())
    raise usage(f"git refused: {said[:300]}", "see whether this is a repository of yours", str(place))
