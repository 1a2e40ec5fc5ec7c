"""Following the chain: the lines of three streams in their one order, each proven to continue it (FORMAT 1, 8)."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from ledger.events import STREAMS, StreamName
from ledger.format.chain import BEGINNING, Head
from ledger.store.disk import plain_file, readable
from ledger.store.failures import Damaged, Problem
from ledger.store.streams import PREFIX, READ_BYTES, line_number, stream_path

BUFFER_BYTES: Final = 1 << 18
_LINE_FEED: Final = 10
_REST: Final = re.compile(rb"(0|[1-9][0-9]{0,15}),")

Link = tuple[int, bytes, int]
"""Stream index, line, and how many of its first bytes are proven to be right: prev, seq and rest."""


class Mark(msgspec.Struct):
    """How far the streams are read: the head there, and the offset in each stream."""

    head: Head = BEGINNING
    offsets: list[int] = msgspec.field(default_factory=lambda: [0] * len(STREAMS))

    def copy(self) -> Mark:
        """The same place, which does not move with this one."""
        return Mark(self.head, [*self.offsets])


@contextmanager
def opened(directory: Path, mark: Mark) -> Generator[list[BinaryIO]]:
    """The three streams, open where `mark` says. Raises `Damaged` when one is missing."""
    with ExitStack() as stack, readable(directory):
        files: list[BinaryIO] = []
        for index, stream in enumerate(STREAMS):
            file = stack.enter_context(_open(directory, stream))
            file.seek(mark.offsets[index])
            files.append(file)
        yield files


def _open(directory: Path, stream: StreamName) -> BinaryIO:
    try:
        return plain_file(stream_path(directory, stream), BUFFER_BYTES)
    except FileNotFoundError:
        raise Damaged((Problem("the stream is missing", stream=stream),), str(directory)) from None


def follow(directory: Path, mark: Mark, until: Head) -> Iterator[Link]:
    """Every event's line after `mark` up to `until`, in order.

    Each is given out when it continues the chain and its commit. `mark` is moved to `until` at the end. Raises
    `Damaged` at the first line that does not, or when the streams end before `until`.
    """
    with opened(directory, mark) as files:
        yield from merged(str(directory), files, mark, until)


def merged(where: str, files: list[BinaryIO], mark: Mark, until: Head) -> Iterator[Link]:
    """`follow` over files that stand where `mark` says, in the order of `STREAMS`.

    A line costs one hash, and one comparison with the beginning that it must have: nothing is parsed. While a line
    is given out, its file stands right behind it.
    """
    fronts = [file.readline(READ_BYTES) for file in files]
    seq, prev = mark.head.seq, mark.head.hash
    index = rest = 0
    while seq < until.seq:
        seq += 1
        wanted = f'{{"prev":"{prev}","seq":{seq},"rest":'.encode()
        line = fronts[index]
        if not line.startswith(wanted):
            index = _turn(fronts, wanted)
            if index < 0:
                raise Damaged((_break(files, fronts, seq),), where)
            line = fronts[index]
        proven = len(wanted) + 2
        if rest or not line.startswith(b"0,", len(wanted)):
            rest, proven = _rest(line, len(wanted), rest)
        if rest < 0 or line[-1] != _LINE_FEED:
            what = "the line is cut off" if rest >= 0 else "rest does not count down"
            raise Damaged((_problem(what, seq, files, fronts, index),), where)
        content = line[:-1]
        prev = sha256(content).hexdigest()
        yield index, content, proven
        fronts[index] = files[index].readline(READ_BYTES)
    if Head(seq, prev) != until:
        raise Damaged((Problem("head has another hash than the line it names", until.seq),), where)
    if rest:
        raise Damaged((Problem(f"head stands inside a commit: {rest} events are still to come", seq),), where)
    mark.head = until
    mark.offsets = [file.tell() - len(front) for file, front in zip(files, fronts, strict=True)]


def _turn(fronts: list[bytes], wanted: bytes) -> int:
    """The stream whose next line begins as `wanted`, -1 when none does."""
    for index, front in enumerate(fronts):
        if front.startswith(wanted):
            return index
    return -1


def _rest(line: bytes, place: int, before: int) -> tuple[int, int]:
    """The number at `place`, which counts down when the event before left some (-1: it does not), and its end."""
    counted = _REST.match(line, place)
    if counted is None or before not in (0, int(counted[1]) + 1):
        return -1, place
    return int(counted[1]), counted.end()


def _problem(what: str, seq: int, files: list[BinaryIO], fronts: list[bytes], index: int) -> Problem:
    """`what` is wrong with the next line of a stream."""
    offset = files[index].tell() - len(fronts[index])
    return Problem(what, seq, STREAMS[index], line_number(files[index], offset))


def _break(files: list[BinaryIO], fronts: list[bytes], seq: int) -> Problem:
    """Why none of the next lines is event `seq`."""
    for index, front in enumerate(fronts):
        prefix = PREFIX.match(front)
        claimed = int(prefix[2]) if prefix else -1
        if prefix is None and front:
            return _problem("the line does not begin with prev, seq and rest", seq, files, fronts, index)
        if claimed == seq:
            return _problem("prev is not the hash of the line before", seq, files, fronts, index)
        if 0 <= claimed < seq:
            return _problem(f"the line repeats event {claimed}", claimed, files, fronts, index)
    return Problem("the event is missing", seq)
