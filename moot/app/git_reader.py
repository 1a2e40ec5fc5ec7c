"""Reader of git repositories that runs nothing and fetches nothing. It is a process of its own with hard limits.

The git command obeys the repository it reads: its configuration and attributes can name programs to start (filters,
external diffs, monitors, hooks, upload-pack) and addresses to fetch from. This reader never starts git and never reads
a repository's configuration or attributes: it reads refs and objects through dulwich, and computes the diff itself.

    python -I -m moot.app.git_reader      one request as JSON on standard input, one answer as JSON on standard output
"""

from __future__ import annotations

import os
import re
import resource
import stat
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

import orjson
from dulwich.config import StackedConfig
from dulwich.diff_tree import RenameDetector, TreeChange
from dulwich.errors import NotCommitError
from dulwich.graph import find_merge_base
from dulwich.ignore import (
    IgnoreFilter,
    IgnoreFilterManager,
    default_user_ignore_filter_path,
    read_ignore_patterns,
)
from dulwich.index import Index
from dulwich.object_store import DiskObjectStore
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.objectspec import parse_commit
from dulwich.refs import DiskRefsContainer
from dulwich.repo import BaseRepo

from ledger.store.disk import plain_file, read_plain, real
from moot.app.unified_diff import FileSide, file_diff

MEMORY_MAX: Final = 1 << 30
SECONDS_MAX: Final = 60
ENTRIES_MAX: Final = 200_000
FILE_BYTES_MAX: Final = 1 << 22
"""Largest content of one file that is returned or compared; for a larger one only the size is returned."""
CHANGE_BYTES_MAX: Final = 1 << 26
IGNORE_BYTES_MAX: Final = 1 << 20
REPOSITORY: Final = 0o160000
STEP: Final = re.compile(r"([~^])(\d{0,6})")
STARTS_OR_REACHES: Final = (
    "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "pty.spawn",
    "socket.", "ctypes.",
)  # fmt: skip
"""Prefixes of audit events that start a process or open a connection."""


class Refused(Exception):
    """A request that cannot be met, with `what` happened and the `fix`."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix


def main() -> None:
    """Answer the request on standard input."""
    # Read before the limits are set: the request comes from moot, only the repository is hostile.
    request = orjson.loads(sys.stdin.buffer.read())
    _limit()
    try:
        answer: dict[str, Any] = ACTIONS[request.pop("action")](**request)
    except Refused as refusal:
        answer = {"refused": [refusal.what, refusal.fix]}
    except MemoryError:
        answer = {"refused": ["an object in this repository is too large to read", "name single files"]}
    # Whatever a hostile repository does to the library ends as a sentence, not as a traceback.
    except Exception as error:  # noqa: BLE001
        words = " ".join(str(error).split())[:200]
        what = f"this repository cannot be read ({type(error).__name__}: {words})"
        answer = {"refused": [what, "run `git fsck` in it, or name single files"]}
    sys.stdout.buffer.write(orjson.dumps(answer))


def _limit() -> None:
    """Give this process limits that it cannot lift, and forbid it to start a program or open a connection."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
    # No file may grow by a byte: this process only reads, and its answer goes to a pipe.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    # An audit hook cannot be removed again, not even by code that a repository might get to run.
    sys.addaudithook(_refuse_event)


def _refuse_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(STARTS_OR_REACHES):
        _refuse(f"this repository wants {event}")
    if event == "open" and isinstance(arguments[0], (str, bytes)) and arguments[0] != os.devnull:
        # A pipe or a device in place of a file of the repository would block this process, or never end.
        try:
            # Between this look and the opening a file may be exchanged; the parent's timeout then ends this process.
            mode = os.stat(arguments[0]).st_mode
        except OSError:
            return
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            _refuse(f"{os.fsdecode(arguments[0])} is not a plain file")


def _refuse(what: str) -> NoReturn:
    raise Refused(what, "read a repository that you trust, or name single files")


class Repository(BaseRepo):
    """Refs and objects of a repository on disk, whose configuration is never read."""

    def __init__(self, control: Path) -> None:
        self.control, self.common = control, _common(control)
        # Refs in a reftable are not in the files that dulwich reads, so a branch would silently look missing.
        if (self.common / "reftable").is_dir():
            raise Refused("this repository keeps its refs in a reftable", "name single files")
        # A loose object is compressed: without a limit a few kilobytes could unpack to gigabytes.
        objects = DiskObjectStore(str(self.common / "objects"), loose_object_size_limit=CHANGE_BYTES_MAX)
        # The base class reads no configuration; dulwich's `Repo` would.
        super().__init__(objects, DiskRefsContainer(str(self.common), str(control)))

    @property
    def is_shallow(self) -> bool:
        """Return whether the history is cut off."""
        return (self.common / "shallow").exists()

    def get_named_file(self, path: str) -> BinaryIO | None:
        """Open a file of the git directory, such as `shallow`; None where it is missing."""
        file = self.common / path
        return plain_file(file) if file.is_file() else None


def _common(control: Path) -> Path:
    """Return the directory that a linked worktree shares with its main one."""
    # A linked worktree has its own HEAD and index, and shares objects and refs with the main one.
    file = control / "commondir"
    return control / read_plain(file, 4_096).decode().strip() if file.is_file() else control


def _find(place: Path) -> tuple[Path, Path] | None:
    """Return the top of the work tree around `place` and its git directory."""
    for top in (place, *place.parents):
        entry = top / ".git"
        # An empty `.git` directory does not make a repository, and git looks further up too.
        if entry.is_dir() and (entry / "HEAD").exists():
            return top, entry
        if entry.is_file():
            words = read_plain(entry, 4_096).decode(errors="replace")
            if words.startswith("gitdir:"):
                return top, top / words.removeprefix("gitdir:").strip()
    return None


def _directory(place: str) -> dict[str, Any]:
    """Return the paths below a directory that are tracked, or not ignored, as seen from it."""
    directory = real(Path(place))
    top, control = _find(directory) or (directory, None)
    prefix = directory.relative_to(top).as_posix()
    # Index paths count from the top of the work tree, and need the slash to match whole directories.
    prefix = "" if prefix == "." else f"{prefix}/"
    paths = set(_walk(directory, prefix, _Ignored(top, control)))
    # A tracked file counts even where an ignore rule matches it, as it does for git.
    if control is not None and (control / "index").exists():
        paths |= {path for path in Index(str(control / "index")) if path.startswith(os.fsencode(prefix))}
    if len(paths) > ENTRIES_MAX:
        raise Refused(
            f"it holds more than {ENTRIES_MAX:,} files", "name a smaller directory, or single files"
        )
    return {"paths": [_packed(path.removeprefix(os.fsencode(prefix))) for path in sorted(paths)]}


class _Ignored(IgnoreFilterManager):
    """Rules of all `.gitignore` files below a top, `info/exclude` and the reader's own ignore file."""

    def __init__(self, top: Path, control: Path | None) -> None:
        # Git's own configuration is the reader's, who is trusted; the repository's is not read.
        # Rules are applied in git's order: the repository's exclude file, then the reader's own.
        files = [] if control is None else [_common(control) / "info" / "exclude"]
        files.append(Path(default_user_ignore_filter_path(StackedConfig.default())).expanduser())
        super().__init__(str(top), [rules for file in files if (rules := _rules(file))], ignorecase=False)

    def _load_path(self, path: str) -> IgnoreFilter | None:
        if path not in self._path_filters:
            self._path_filters[path] = _rules(Path(self._top_path, path, ".gitignore"))
        return self._path_filters[path]


def _rules(file: Path) -> IgnoreFilter | None:
    """Return the rules in a file; None for a link, a missing file, and one too large to be a list of rules."""
    try:
        if not stat.S_ISREG(file.lstat().st_mode) or file.stat().st_size > IGNORE_BYTES_MAX:
            return None
        with plain_file(file) as lines:
            return IgnoreFilter(read_ignore_patterns(lines), False, path=str(file))
    except OSError:
        return None


def _walk(directory: Path, prefix: str, ignored: _Ignored) -> Iterator[bytes]:
    """Yield paths of files that no rule ignores. Another repository is a single path, as in git."""
    count = 0
    pending = [(os.fsencode(directory), os.fsencode(prefix))]
    while pending:
        place, below = pending.pop()
        # A stack and no recursion, because a hostile tree may be deeper than Python's stack.
        for entry in os.scandir(place):
            count += 1
            if count > ENTRIES_MAX:
                raise Refused(
                    f"it holds more than {ENTRIES_MAX:,} entries", "name a smaller directory, or single files"
                )
            path = below + entry.name
            is_directory = entry.is_dir(follow_symlinks=False)
            # Ignored directories are not entered, as in git: rules below them can bring nothing back.
            if entry.name == b".git" or ignored.is_ignored(os.fsdecode(path) + "/" * is_directory):
                continue
            # A nested repository has files of its own history, which git lists as a single entry.
            if is_directory and not os.path.lexists(os.path.join(entry.path, b".git")):
                pending.append((entry.path, path + b"/"))
            else:
                yield path


def _change(place: str, before: str, after: str, parted: bool) -> dict[str, Any]:
    """Return two commits, the unified diff between them and every file that it touches."""
    around = _find(real(Path(place)))
    if around is None:
        raise Refused(f"{real(Path(place))} is not inside a git repository", "run it inside a clone")
    repository = Repository(around[1])
    old, new = (_commit(repository, name) for name in (before, after))
    if parted:
        # `A...B` means the change on B since the two parted, which a pull request shows.
        old = _merge_base(repository, old, new)
    try:
        # Without renames, moving a file would show as its whole text removed and added.
        changes = RenameDetector(repository.object_store).changes_with_renames(old.tree, new.tree)
        files = sorted(_files(repository, changes), key=lambda row: b64decode(row["path"]))
    except KeyError as missing:
        raise _missing(repository, f"object {_word(missing)}") from None
    size = sum(len(row["diff"]) + len(row["content"] or "") for row in files)
    if size > CHANGE_BYTES_MAX:
        raise Refused(f"the change has {size:,} bytes", "name two commits that are closer together")
    return {"before": old.id.decode(), "after": new.id.decode(), "files": files}


def _commit(repository: Repository, name: str) -> Commit:
    """Return the commit of a name such as `main`, `v1.2~3`, `HEAD^2` or `1f3a9c2`."""
    base, *steps = STEP.split(name)
    try:
        commit = parse_commit(repository, base)
        # STEP has two groups, so the split gives base, mark, count, rest, mark, count, rest …
        for mark, count, rest in zip(steps[::3], steps[1::3], steps[2::3], strict=True):
            if rest:
                raise KeyError(name)
            # A bare `~` or `^` means one step; `HEAD~0` and `HEAD^0` are the commit itself.
            number = int(count or 1)
            for _ in range(number if mark == "~" else min(number, 1)):
                commit = parse_commit(repository, commit.parents[0 if mark == "~" else number - 1])
    except (KeyError, IndexError, NotCommitError, ValueError):
        raise _missing(repository, f"commit {name!r}") from None
    return commit


def _merge_base(repository: Repository, old: Commit, new: Commit) -> Commit:
    try:
        bases = find_merge_base(repository, [old.id, new.id])
    except KeyError as missing:
        raise _missing(repository, f"commit {_word(missing)}") from None
    # In a shallow clone the common commit may only be missing, so the fix differs.
    if not bases:
        if repository.is_shallow:
            raise _missing(repository, "commit where the two parted")
        raise Refused("the two have no commit in common", "write git:A..B")
    return _commit(repository, bases[0].decode())


def _missing(repository: Repository, what: str) -> Refused:
    """Return a refusal that tells a shallow or partial clone apart from a wrong name."""
    if repository.is_shallow:
        return Refused(
            f"no {what} here: this clone is shallow, so older history is missing",
            "fetch it: `git fetch --unshallow` (in a workflow: fetch-depth: 0)",
        )
    if what.startswith("object"):
        return Refused(
            f"no {what} here: this is a partial clone", "fetch it first, for example with `git checkout`"
        )
    return Refused(f"no {what} here", "name two commits, branches or tags of this repository")


def _word(missing: KeyError) -> str:
    key = missing.args[0] if missing.args else ""
    return (key.decode("ascii", "replace") if isinstance(key, bytes) else str(key))[:64]


def _files(repository: Repository, changes: Iterable[TreeChange]) -> Iterator[dict[str, Any]]:
    for change in changes:
        old, new = (_side(repository, entry) for entry in (change.old, change.new))
        side = new or old
        assert side is not None, "a change has at least one side"
        content = new.content if new and stat.S_ISREG(new.mode) else None
        yield {
            "path": _packed(side.path),
            "mode": new.mode if new else None,
            "size": new.size if new else None,
            "content": None if content is None else _packed(content),
            "diff": _packed(file_diff(old, new)),
        }


def _side(repository: Repository, entry: Any) -> FileSide | None:
    """Return one side of a change; the content of a large file stays out."""
    if entry is None or entry.sha is None:
        return None
    path, mode, identity = bytes(entry.path), int(entry.mode), ObjectID(entry.sha)
    if stat.S_IFMT(mode) == REPOSITORY:
        # A submodule's tree entry has no blob; git shows it as this line, and so does the diff.
        words = b"Subproject commit " + identity + b"\n"
        return FileSide(path, mode, identity, len(words), words)
    blob = repository.object_store[identity]
    if not isinstance(blob, Blob):
        raise Refused(f"{os.fsdecode(path)} is not a file in this repository", "run `git fsck` in it")
    content = blob.data
    # The diff names a large file with its size, and the listing says that it was left out.
    return FileSide(path, mode, identity, len(content), content if len(content) <= FILE_BYTES_MAX else None)


def _packed(content: bytes) -> str:
    return b64encode(content).decode()


ACTIONS: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {"directory": _directory, "change": _change}

if __name__ == "__main__":
    main()
