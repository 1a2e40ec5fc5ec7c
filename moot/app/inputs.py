"""Documents that a person names: reports to write, earlier decisions, and what a run is to read.

A run reads files, directories, a change in git and standard input, under one budget for all of them:

    --context notes.md --context src/ --context git:main..HEAD --context -

Nothing is cut and nothing is summarised: what does not fit is refused with the sizes. Where a directory or a change was
read, a listing of what went in and what did not is the first document.

Repositories are read without running git: `git_reader` does that in a process with limits on memory, time and files. A
hostile repository can therefore neither start a program, nor reach an address, nor exhaust this process.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

import orjson

from ledger.events import Decision
from ledger.events.ids import DECISION_MENTION
from ledger.plain_text import NotText, counted, one_line, plain_lines, readable, some
from ledger.store.disk import read_plain, real, write_failed, write_out
from moot.app.runs import Run, find_run
from moot.documents import decision_record
from moot.errors import USAGE, MootError, usage
from moot.run_view import RunView

TEXT_BYTES_MAX: Final = 1 << 20


def write_document(file: Path, content: bytes) -> None:
    """Write `content` to `file`, whole or not at all; until then the old file stays.

    Raises `MootError` (exit code 2) when no file can have that name, `WriteFailed` (3) when the system refuses.
    """
    try:
        write_out(file, content)
    # These name a mistake in the path, which the person can fix; a full or read-only disk is reported as a failed
    # write.
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        reason = (error.strerror or str(error)).lower()
        raise usage(
            f"cannot write: {reason}", "name a file in a directory that is there", str(file)
        ) from None
    except OSError as error:
        # Exit code 3: the call was right, and can be repeated once the disk takes the file.
        raise write_failed(error, file) from error


def read_text(file: Path) -> str:
    """Return the text of a plain file. Raises `MootError` when it is not text, and `OSError`."""
    content = read_plain(file, TEXT_BYTES_MAX)
    try:
        return readable(content)
    except NotText as error:
        raise usage(str(error), error.fix, str(file)) from None


DECISION: Final = re.compile(rf"(.+):({DECISION_MENTION})")


def earlier_decision(reference: str) -> dict[str, str]:
    """Return a row of `[[context]]`: the decision record, which begins with its source.

    Raises `MootError` when the run or the decision does not exist, or nothing was decided.
    """
    # The pattern takes the last `:D-…`, so a run's path may contain colons of its own.
    named = DECISION.fullmatch(reference)
    run = Run(find_run(named[1] if named else reference))
    book, name = run.book, real(run.path).name
    only = named[2] if named else None
    decision = book.by_id.get(only or "")
    if only is not None and not isinstance(decision, Decision):
        known = ", ".join(book.state.decisions) or "none"
        raise usage(f"no decision {only!r} in that run", f"decisions there: {known}", "--from")
    if not book.state.decisions:
        raise usage("nothing was decided in that run", "finish it first: `moot status`", "--from")
    # The decision record names run and head, so the new run records exactly what it started from.
    text = decision_record(RunView(book, name), run.head, only)
    if isinstance(decision, Decision):
        text += f"\n## Where this starts\n\n{only}: {one_line(decision.text)}\n"
    return {"name": f"decision-of-{name}.md", "text": text}


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
    answer = _ask_reader(str(directory), action="directory", place=str(directory))
    return [Path(os.fsdecode(b64decode(path))) for path in answer["paths"]]


def read_change(text: str, place: Path) -> RepositoryChange:
    """Return the change that `git:A..B`, `git:A...B` (since the two parted) or `git:A..` (to HEAD) names.

    Raises `MootError`.
    """
    parts = RANGE.fullmatch(text)
    if parts is None:
        raise usage(f"{text!r} names no two commits", "write git:A..B, such as git:main..HEAD", "git:")
    answer = _ask_reader(
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


def _ask_reader(where: str, **request: Any) -> dict[str, Any]:
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


BYTES_MAX: Final = 400_000
"""Limit for all documents of a run together, unless the person raises it: some 100,000 tokens in every prompt."""
FILES_MAX: Final = 2_000
NAME_MAX: Final = 160
FILE_BYTES_MAX: Final = 1 << 22
LARGEST: Final = 12
"""Most sizes that a refusal lists."""
LISTING: Final = "what-was-given.md"
STANDARD_INPUT: Final = "standard-input.txt"
LONE_RETURN: Final = "\u240d"
"""The picture of a carriage return."""


class Taken(NamedTuple):
    """A document: its name in the run and its text."""

    name: str
    text: str

    @property
    def bytes(self) -> int:
        """Return its size in bytes."""
        return len(self.text.encode())


class Left(NamedTuple):
    """A source that was left out, and the reason."""

    name: str
    why: str


class Inputs(NamedTuple):
    """Texts that a person gave as context.

    `files` are single files, by the path the person gave; `documents` the texts of everything else; `left` what was
    passed over; `changes` the names of the documents that are diffs computed here.
    """

    files: tuple[str, ...]
    documents: tuple[Taken, ...]
    left: tuple[Left, ...]
    changes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[dict[str, str]]:
        """Return the rows of a deliberation's `[[context]]`."""
        return [{"name": document.name, "text": document.text} for document in self.documents]

    def summary(self) -> str:
        """Return a line on what went in and what was left out; empty where only files were named."""
        if not self.documents or self.documents[0].name != LISTING:
            return ""
        documents = self.documents[1:]
        size = sum(document.bytes for document in documents)
        names = [f"{item.name} ({item.why})" for item in self.left]
        left = f"; left out: {some(names, 5)}" if names else ""
        return f"given to read: {counted(len(documents), 'document')}, {size:,} bytes{left}\n"


def inputs_of(names: Sequence[str], bytes_max: int) -> Inputs:
    """Read what a person named. Raises `MootError` when a source does not exist, or all of them are too large."""
    files: list[str] = []
    items: list[Taken | Left] = []
    sources: list[str] = []
    changes: list[str] = []
    for source in names:
        if source == "-":
            items.append(Taken(STANDARD_INPUT, _standard_input(sys.stdin, bytes_max)))
        elif source.startswith("git:"):
            change = read_change(source, Path())
            sources.append(f"git {change.name}: from {change.before} to {change.after}")
            changes.append(_diff_name(change))
            items += _change(change)
        elif Path(source).is_dir():
            sources.append(f"the directory {real(Path(source)).name}")
            items += _directory(Path(source))
        else:
            files.append(source)
    taken = [item for item in items if isinstance(item, Taken)]
    left = [item for item in items if isinstance(item, Left)]
    _refuse_twice(taken)
    if sources:
        # The listing comes first, so that a seat reads what is missing before it draws conclusions from the rest.
        taken.insert(0, Taken(LISTING, "\n".join(_listing(sources, taken, left, bytes_max)) + "\n"))
    _refuse_too_much(files, taken, bytes_max)
    return Inputs(tuple(files), tuple(taken), tuple(left), tuple(changes))


def _directory(directory: Path) -> Iterator[Taken | Left]:
    """Yield every plain text below a directory that git does not ignore.

    Links are not followed, and other repositories are not entered.
    """
    paths = files_in(directory)
    if not paths:
        raise usage(
            f"nothing in {directory}", "name a directory with files that git does not ignore", "--context"
        )
    if len(paths) > FILES_MAX:
        what = f"{directory} has {len(paths):,} files, more than {FILES_MAX:,}"
        raise usage(what, "name a smaller directory, or single files", "--context")
    base = real(directory).name
    for path in paths:
        name = f"{base}/{path.as_posix()}" if base else path.as_posix()
        yield _document(name, _plain(directory, path))


def _plain(directory: Path, path: Path) -> bytes | str:
    """Return the bytes of a file, or why there are none. No part of the path may be a link."""
    place, mode = directory, stat.S_IFDIR
    for part in path.parts:
        # Checked part by part: a link anywhere in the path could lead out of the directory that the person named.
        place /= part
        try:
            mode = os.lstat(place).st_mode
        except OSError:
            return "gone"
        if stat.S_ISLNK(mode):
            return "a link"
    if stat.S_ISDIR(mode):
        return "another repository"
    if not stat.S_ISREG(mode):
        return "no plain file"
    if place.stat().st_size > FILE_BYTES_MAX:
        return f"{place.stat().st_size:,} bytes"
    return read_plain(place, FILE_BYTES_MAX)


def _diff_name(change: RepositoryChange) -> str:
    return f"{change.name.replace('/', '-')}.diff"


def _change(change: RepositoryChange) -> Iterator[Taken | Left]:
    """Yield the diff, then every file that it touches as it is after the change."""
    if not change.diff.strip():
        raise usage(f"nothing changed in {change.name}", "name two commits that differ", "git:")
    yield _document(_diff_name(change), change.diff, broken=True)
    for file in change.files:
        if file.path == _diff_name(change):
            # A file of the change must not pass for the change itself.
            yield Left(file.path, "has the name of the diff")
        elif file.mode is None:
            yield Left(_visible(file.path), "deleted")
        elif not stat.S_ISREG(file.mode):
            yield Left(_visible(file.path), "a link" if stat.S_ISLNK(file.mode) else "another repository")
        else:
            yield _document(file.path, f"{file.size:,} bytes" if file.content is None else file.content)


def _document(name: str, content: bytes | str, *, broken: bool = False) -> Taken | Left:
    """Return a document, or the reason to leave it out; `content` may be that reason.

    With `broken`, invalid UTF-8 becomes replacement characters, because a diff may hold two encodings.
    """
    # A control character in a name could forge a line of the listing, and the listing's own name could pass for it.
    if not name.isprintable() or len(name) > NAME_MAX or name == LISTING:
        return Left(_visible(name)[:NAME_MAX], "a name that no ledger keeps")
    if isinstance(content, str):
        return Left(name, content)
    try:
        text = _diff_text(content) if broken else readable(content)
    except NotText as error:
        return Left(name, str(error))
    return Taken(name, text) if text.strip() else Left(name, "empty")


def _diff_text(content: bytes) -> str:
    """Return a diff as plain text. A lone CR inside a line must not begin another line, which would have no sign."""
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    return plain_lines(text.replace("\r", LONE_RETURN))


def _visible(name: str) -> str:
    return name.encode("unicode_escape", "backslashreplace").decode() if not name.isprintable() else name


def _standard_input(stdin: TextIO, bytes_max: int) -> str:
    # One byte above the limit tells that there is more, without reading an endless pipe.
    content = stdin.buffer.read(bytes_max + 1)
    if len(content) > bytes_max:
        fix = "leave out what nobody needs to read, or save it as a file and name that with --context"
        raise MootError("too_much", f"more than {bytes_max:,} bytes", "standard input", fix, USAGE)
    try:
        text = readable(content)
    except NotText as error:
        raise usage(str(error), error.fix, "standard input") from None
    if not text.strip():
        raise usage("standard input is empty", "leave out --context -, or give text", "standard input")
    return text


def _refuse_twice(taken: Sequence[Taken]) -> None:
    names = [document.name for document in taken]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise usage(f"{twice} is given twice", "name each directory and change once", "--context")


def _refuse_too_much(files: Iterable[str], taken: Iterable[Taken], bytes_max: int) -> None:
    """Refuse more than the budget, and list the largest documents."""
    sizes = [(document.bytes, document.name) for document in taken]
    sizes += [(Path(file).stat().st_size, file) for file in files if Path(file).is_file()]
    total = sum(size for size, _ in sizes)
    if total <= bytes_max:
        return
    largest = sorted(sizes, reverse=True)
    lines = [f"{size:>12,}  {name}" for size, name in largest[:LARGEST]]
    lines += [f"{'':>12}  and {len(largest) - LARGEST} more"] if len(largest) > LARGEST else []
    what = f"the documents have {total:,} bytes, {total - bytes_max:,} more than may be given"
    fix = f"leave out what nobody needs to read, or say --rule context-bytes={total}"
    raise MootError("too_much", what, "--context", fix, USAGE, more="".join(f"{line}\n" for line in lines))


def _listing(
    sources: Sequence[str], taken: Sequence[Taken], left: Sequence[Left], bytes_max: int
) -> Iterator[str]:
    """Yield the first document: the sources, the size of each document, and what was left out."""
    yield "What was given to read"
    yield ""
    yield from (f"From {source}." for source in sources)
    size = sum(document.bytes for document in taken)
    yield f"{counted(len(taken), 'document')}, {size:,} bytes of at most {bytes_max:,}."
    yield ""
    yield from (f"{document.bytes:>10,}  {document.name}" for document in taken)
    if left:
        yield ""
        yield "Left out:"
        yield from (f"{item.why:>20}  {item.name}" for item in left)
