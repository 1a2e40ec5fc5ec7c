"""Files of a run: three streams of lines, their blobs, and the head that says how much is committed (FORMAT 8)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from ledger.events import STREAMS, StreamName
from ledger.events.envelope import LINE_BYTES_MAX
from ledger.format.canonical import Head
from ledger.store.disk import open_plain, plain_file, readable
from ledger.store.failures import Damaged, NotARun, OtherFormat, Problem

OPENING: Final = "opening.tmp"
"""Marker in an existing directory while a run is created in it: until it has a head, it is not a run."""

BLOBS: Final = "blobs.jsonl"
QUARANTINE: Final = "quarantine"
STREAM_FILES: Final = frozenset(f"{stream}.jsonl" for stream in STREAMS)
FILES: Final = STREAM_FILES | {
    "head",
    BLOBS,
    "checkpoints",
    "checks",
    "deliberation.toml",
    "driver",
    "lock",
    OPENING,
    QUARANTINE,
    "speech",
    "spending.jsonl",
}
"""Everything that moot writes into the directory of a run, temporary files aside."""
READ_BYTES: Final = LINE_BYTES_MAX + 1
HEAD_BYTES: Final = 128
PIECE_BYTES: Final = 1 << 20
PREFIX: Final = re.compile(
    rb'\{"prev":"([0-9a-f]{64})","seq":(0|[1-9][0-9]{0,15}),"rest":(0|[1-9][0-9]{0,15}),"v":'
)
_HEAD: Final = re.compile(
    rb'\{"seq":(0|[1-9][0-9]{0,15}),"hash":"([0-9a-f]{64})","blobs":(0|[1-9][0-9]{0,15})\} *\n'
)
_OLDER_HEAD: Final = re.compile(rb'\{"seq":[0-9]{1,16},"hash":"[0-9a-f]{64}"\}\n')


class Acknowledged(NamedTuple):
    """Content of `head`: the last commit, and the length of `blobs.jsonl` up to it."""

    head: Head
    blobs: int


def path_in(directory: Path, name: str) -> str:
    """Return the path of a file in a run's directory.

    A commit asks for ten. Joined as a `Path`, which every call makes text of again, they took a fifth of its time.
    """
    return f"{directory}/{name}"


def stream_path(directory: Path, stream: StreamName) -> Path:
    """Return the path of a stream."""
    return directory / f"{stream}.jsonl"


def head_bytes(head: Head, blobs: int) -> bytes:
    """Return the content of the head file. It is padded to a fixed length, so that it can be written in place."""
    content = b'{"seq":%d,"hash":"%b","blobs":%d}' % (head.seq, head.hash.encode(), blobs)
    return content.ljust(HEAD_BYTES - 1) + b"\n"


def read_head(directory: Path) -> Head:
    """Return the last commit of the run at `directory`. Raises what `read_acknowledged` raises."""
    return read_acknowledged(directory).head


def read_acknowledged(directory: Path) -> Acknowledged:
    """Return the last commit of the run at `directory`, and how much of its blobs belongs to it.

    Raises `NotARun` when there is no commit, `OtherFormat` for a run of moot 0.1, `Damaged` when head is no head, or
    missing beside commits.
    """
    try:
        content = _settled(path_in(directory, "head"))
    except OSError as error:
        with readable(directory):
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                raise
            raise _without_head(directory) from None
    match = _HEAD.fullmatch(content)
    if match is None or len(content) != HEAD_BYTES:
        if _OLDER_HEAD.fullmatch(content):
            raise OtherFormat.of(1, str(directory))
        what = LINE_ENDS if has_other_line_ends(directory) else "head is not of the form {seq, hash, blobs}"
        raise Damaged((Problem(what),), str(directory))
    return Acknowledged(Head(int(match[1]), match[2].decode()), int(match[3]))


LINE_ENDS: Final = (
    "the line ends were changed to CRLF, as git does where core.autocrlf is true; nothing is lost: put the line"
    " `* -text` into a .gitattributes file beside the run, remove the run's files, and check them out again"
)


def has_other_line_ends(directory: Path) -> bool:
    """Return whether the head or a stream has the line ends of Windows, which moot never writes."""
    # This only improves the message about damage that is certain already, so a failure here is ignored.
    with suppress(OSError, ValueError):
        for path in (directory / "head", *(stream_path(directory, stream) for stream in STREAMS)):
            with suppress(FileNotFoundError), plain_file(path) as file:
                if file.readline(READ_BYTES + 1).endswith(b"\r\n"):
                    return True
    return False


def check_blobs_end(directory: Path, acknowledged: int) -> None:
    """Raise `Damaged` when `blobs.jsonl` does not hold a whole line that ends where the head says."""
    if acknowledged == 0:
        return
    try:
        with readable(directory), plain_file(path_in(directory, BLOBS), 0) as file:
            file.seek(acknowledged - 1)
            end = file.read(1)
    except FileNotFoundError:
        end = b""
    if end != b"\n":
        what = f"{BLOBS} has no line that ends at byte {acknowledged}, as head says"
        raise Damaged((Problem(what),), str(directory))


def _settled(path: str) -> bytes:
    """Return the head file's content.

    A reader takes no lock and may meet a writer in the middle of its 128 bytes, so it reads until two readings agree.
    """
    descriptor = open_plain(path)
    try:
        before, content = b"", os.pread(descriptor, HEAD_BYTES + 1, 0)
        while content != before:
            before, content = content, os.pread(descriptor, HEAD_BYTES + 1, 0)
    finally:
        os.close(descriptor)
    return content


def _without_head(directory: Path) -> NotARun | Damaged:
    where = str(directory)
    if not directory.is_dir():
        return NotARun("there is no such run", where, "name a run directory, or list them with `ls runs`")
    # A creation that crashed leaves whole commits without a head. Its marker file tells that case from a lost
    # head.
    if not (directory / OPENING).exists() and holds_commit(directory):
        return Damaged((Problem("head is missing, but the streams hold commits"),), where)
    if any(stream_path(directory, stream).exists() for stream in STREAMS):
        fix = "nothing in it was acknowledged: remove it, or start again with `moot run --out` on it"
        return NotARun("this run was never opened", where, fix)
    return NotARun(
        "this directory holds no ledger", where, "name a run directory, or start one with `moot run`"
    )


def holds_commit(directory: Path) -> bool:
    """Return whether some stream holds a line that ends a commit."""
    for stream in STREAMS:
        path = stream_path(directory, stream)
        if path.exists():
            with plain_file(path) as file:
                prefixes = (PREFIX.match(line) for line in lines_of(file))
                if any(prefix and prefix[3] == b"0" for prefix in prefixes):
                    return True
    return False


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the complete lines from the file's position, without their line feeds.

    What follows the last line feed is no line. A line beyond the limit of FORMAT 1 ends the reading, so that
    memory is bounded whatever the file holds.
    """
    while (line := file.readline(READ_BYTES)).endswith(b"\n"):
        yield line[:-1]


def line_number(file: BinaryIO, offset: int) -> int:
    """Return the number, from 1, of the line that begins at `offset`, which becomes the file's position."""
    file.seek(0)
    number, left = 1, offset
    while piece := file.read(min(left, PIECE_BYTES)):
        number += piece.count(b"\n")
        left -= len(piece)
    return number
