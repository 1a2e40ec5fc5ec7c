"""The files of a ledger: three streams of lines, and the head that says how much of them is committed (FORMAT 8)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from ledger.events import STREAMS, StreamName
from ledger.events.values import LINE_BYTES_MAX
from ledger.format.chain import Head
from ledger.store.disk import open_plain, plain_file, readable
from ledger.store.failures import Damaged, NotARun, Problem

OPENING: Final = "opening.tmp"
"""Stands in a directory that was there before, while a run is made in it: without a head it never was one."""

READ_BYTES: Final = LINE_BYTES_MAX + 1
HEAD_BYTES_MAX: Final = 1_024
PIECE_BYTES: Final = 1 << 20
PREFIX: Final = re.compile(
    rb'\{"prev":"([0-9a-f]{64})","seq":(0|[1-9][0-9]{0,15}),"rest":(0|[1-9][0-9]{0,15}),"v":'
)
_HEAD: Final = re.compile(rb'\{"seq":(0|[1-9][0-9]{0,15}),"hash":"([0-9a-f]{64})"\}\n')


def stream_path(directory: Path, stream: StreamName) -> Path:
    """The file of a stream."""
    return directory / f"{stream}.jsonl"


def head_bytes(head: Head) -> bytes:
    """What the head file holds."""
    return b'{"seq":%d,"hash":"%b"}\n' % (head.seq, head.hash.encode())


def read_head(directory: Path) -> Head:
    """The last commit of the run at `directory`.

    Raises `NotARun` when there is none, `Damaged` when head is no head, or missing beside commits.
    """
    try:
        with readable(directory):
            content = _short(directory / "head")
    except (FileNotFoundError, NotADirectoryError):
        with readable(directory):
            raise _without_head(directory) from None
    match = _HEAD.fullmatch(content)
    if match is None:
        what = LINE_ENDS if has_other_line_ends(directory) else "head is not of the form {seq, hash}"
        raise Damaged((Problem(what),), str(directory))
    return Head(int(match[1]), match[2].decode())


LINE_ENDS: Final = (
    "the line ends were changed to CRLF, as git does where core.autocrlf is true; nothing is lost: put the line"
    " `* -text` into a .gitattributes file beside the run, remove the run's files, and check them out again"
)


def has_other_line_ends(directory: Path) -> bool:
    """Whether the head or a stream of a run has the line ends of Windows. They are never written by moot."""
    with suppress(OSError, ValueError):
        for path in (directory / "head", *(stream_path(directory, stream) for stream in STREAMS)):
            with suppress(FileNotFoundError), plain_file(path) as file:
                if file.readline(READ_BYTES + 1).endswith(b"\r\n"):
                    return True
    return False


def _short(path: Path) -> bytes:
    descriptor = open_plain(path)
    try:
        return os.read(descriptor, HEAD_BYTES_MAX)
    finally:
        os.close(descriptor)


def _without_head(directory: Path) -> NotARun | Damaged:
    where = str(directory)
    if not directory.is_dir():
        return NotARun("there is no such run", where, "name a run directory, or list them with `ls runs`")
    if not (directory / OPENING).exists() and holds_commit(directory):
        return Damaged((Problem("head is missing, but the streams hold commits"),), where)
    if any(stream_path(directory, stream).exists() for stream in STREAMS):
        fix = "nothing in it was acknowledged: remove it, or start again with `moot run --out` on it"
        return NotARun("this run was never opened", where, fix)
    return NotARun(
        "this directory holds no ledger", where, "name a run directory, or start one with `moot run`"
    )


def holds_commit(directory: Path) -> bool:
    """Whether some stream holds a line that ends a commit."""
    for stream in STREAMS:
        path = stream_path(directory, stream)
        if path.exists():
            with plain_file(path) as file:
                prefixes = (PREFIX.match(line) for line in lines_of(file))
                if any(prefix and prefix[3] == b"0" for prefix in prefixes):
                    return True
    return False


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The complete lines from where `file` stands, without their line feeds.

    What follows the last line feed is no line. A line beyond the limit of FORMAT 1 ends the reading, so that
    memory is bounded whatever the file holds.
    """
    while (line := file.readline(READ_BYTES)).endswith(b"\n"):
        yield line[:-1]


def line_number(file: BinaryIO, offset: int) -> int:
    """The number, from 1, of the line that begins at `offset`, where the file stands afterwards."""
    file.seek(0)
    number, left = 1, offset
    while piece := file.read(min(left, PIECE_BYTES)):
        number += piece.count(b"\n")
        left -= len(piece)
    return number
