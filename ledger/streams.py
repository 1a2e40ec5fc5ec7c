"""The three streams: their lines merged by number with the chain followed, and a commit appended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from ledger.chain import BEGINNING, Head, Sealed
from ledger.disk import Disk
from ledger.events import STREAMS, StreamName, stream_of
from ledger.failures import Damaged, NotARun, Problem
from ledger.values import LINE_BYTES_MAX

BUFFER_BYTES: Final = 1 << 18
_READ_BYTES: Final = LINE_BYTES_MAX + 1
_LINE_FEED: Final = 10
PREFIX: Final = re.compile(
    rb'\{"prev":"([0-9a-f]{64})","seq":(0|[1-9][0-9]{0,15}),"rest":(0|[1-9][0-9]{0,15}),"v":'
)
_HEAD: Final = re.compile(rb'\{"seq":(0|[1-9][0-9]{0,15}),"hash":"([0-9a-f]{64})"\}\n')
_REST: Final = re.compile(rb"(0|[1-9][0-9]{0,15}),")


def stream_path(directory: Path, stream: StreamName) -> Path:
    """The file of a stream."""
    return directory / f"{stream}.jsonl"


def head_bytes(head: Head) -> bytes:
    """What the head file holds."""
    return b'{"seq":%d,"hash":"%b"}\n' % (head.seq, head.hash.encode())


def read_head(directory: Path) -> Head:
    """The last commit of the run at `directory`.

    Raises `NotARun` when there is none, `Damaged` when head is unreadable, or missing beside commits.
    """
    try:
        content = (directory / "head").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise _without_head(directory) from None
    match = _HEAD.fullmatch(content)
    if match is None:
        raise Damaged((Problem("head is not of the form {seq, hash}"),), str(directory))
    return Head(int(match[1]), match[2].decode())


def _without_head(directory: Path) -> NotARun | Damaged:
    where = str(directory)
    if not directory.is_dir():
        return NotARun("there is no such run", where, "name a run directory, or list them with `ls runs`")
    if holds_commit(directory):
        return Damaged((Problem("head is missing, but the streams hold commits"),), where)
    if any(stream_path(directory, stream).exists() for stream in STREAMS):
        mend = (
            "it was never opened and holds no commit: remove it, or start again with `moot run --out` on it"
        )
        return NotARun("this run was never opened", where, mend)
    return NotARun(
        "this directory holds no ledger", where, "name a run directory, or start one with `moot run`"
    )


def holds_commit(directory: Path) -> bool:
    """Whether some stream holds a line that ends a commit."""
    for stream in STREAMS:
        path = stream_path(directory, stream)
        if path.exists():
            with path.open("rb") as file:
                prefixes = (PREFIX.match(line) for line in lines_of(file))
                if any(prefix and prefix[3] == b"0" for prefix in prefixes):
                    return True
    return False


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The complete lines from where `file` stands, without their line feeds.

    What follows the last line feed is no line. A line beyond the limit of FORMAT 1 ends the reading, so that
    memory is bounded whatever the file holds.
    """
    while (line := file.readline(_READ_BYTES)).endswith(b"\n"):
        yield line[:-1]


@dataclass(slots=True)
class Mark:
    """How far the streams are read: the head there, and of each stream the offset and lines behind."""

    head: Head = BEGINNING
    offsets: list[int] = field(default_factory=lambda: [0] * len(STREAMS))
    lines: list[int] = field(default_factory=lambda: [0] * len(STREAMS))

    def copy(self) -> Mark:
        """The same place, which does not move with this one."""
        return Mark(self.head, [*self.offsets], [*self.lines])


Link = tuple[int, int, bytes, int]
"""Stream index, line number, line, and how many of its first bytes are proven right: prev, seq and rest."""


def follow(directory: Path, mark: Mark, until: Head) -> Iterator[Link]:
    """Every event's line after `mark` up to `until`, in order.

    Each line is given out when it continues the chain and its commit. `mark` is moved to `until` at the end.
    Raises `Damaged` at the first line that does not, or when the streams end before `until`.
    """
    with ExitStack() as stack:
        files: list[BinaryIO] = []
        for index, stream in enumerate(STREAMS):
            file = stack.enter_context(_open(directory, stream))
            file.seek(mark.offsets[index])
            files.append(file)
        yield from merged(str(directory), files, mark, until)


def _open(directory: Path, stream: StreamName) -> BinaryIO:
    try:
        return stream_path(directory, stream).open("rb", buffering=BUFFER_BYTES)
    except FileNotFoundError:
        raise Damaged((Problem("the stream is missing", stream=stream),), str(directory)) from None


def merged(where: str, files: list[BinaryIO], mark: Mark, until: Head) -> Iterator[Link]:
    """`follow` over files that stand where `mark` says, in the order of `STREAMS`.

    Every line costs one hash and one comparison with the beginning that it must have: nothing is parsed.
    """
    fronts = [file.readline(_READ_BYTES) for file in files]
    offsets, numbers = [*mark.offsets], [*mark.lines]
    seq, prev = mark.head.seq, mark.head.hash
    index = rest = 0
    while seq < until.seq:
        seq += 1
        wanted = f'{{"prev":"{prev}","seq":{seq},"rest":'.encode()
        line = fronts[index]
        if not line.startswith(wanted):
            index = _turn(fronts, wanted)
            if index < 0:
                raise Damaged((_break(fronts, numbers, seq, prev),), where)
            line = fronts[index]
        proven = len(wanted) + 2
        if rest or not line.startswith(b"0,", len(wanted)):
            rest, proven = _rest(line, len(wanted), rest)
            if rest < 0:
                raise Damaged((_problem("rest does not count down", index, numbers, seq),), where)
        content = line[:-1]
        if line[-1] != _LINE_FEED:
            raise Damaged((_problem("the line is cut off", index, numbers, seq),), where)
        prev = sha256(content).hexdigest()
        numbers[index] += 1
        offsets[index] += len(line)
        fronts[index] = files[index].readline(_READ_BYTES)
        yield index, numbers[index], content, proven
    head = Head(seq, prev)
    if head != until:
        raise Damaged((Problem("head has another hash than the line it names", until.seq),), where)
    if rest:
        raise Damaged((Problem(f"head stands inside a commit: {rest} events are still to come", seq),), where)
    mark.head, mark.offsets, mark.lines = head, offsets, numbers


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


def _problem(what: str, index: int, numbers: list[int], seq: int) -> Problem:
    return Problem(what, seq, STREAMS[index], numbers[index] + 1)


def _break(fronts: list[bytes], numbers: list[int], seq: int, prev: str) -> Problem:
    """Why none of the next lines is event `seq`."""
    for index, front in enumerate(fronts):
        prefix = PREFIX.match(front)
        if prefix is None:
            if front:
                return _problem("the line does not begin with prev, seq and rest", index, numbers, seq)
        elif int(prefix[2]) == seq:
            assert prefix[1] != prev.encode(), "it was the line that is wanted"
            return _problem("prev is not the hash of the line before", index, numbers, seq)
        elif int(prefix[2]) < seq:
            return _problem(f"the line repeats event {int(prefix[2])}", index, numbers, int(prefix[2]))
    return Problem("the event is missing", seq)


def append(directory: Path, sealed: Sealed, mark: Mark, disk: Disk) -> Mark:
    """Write a commit behind `mark`, streams before head, every step durable; the place behind it.

    Raises `OSError`. What is then behind the old head was not acknowledged: the next writer settles it.
    """
    batches: dict[int, list[bytes]] = {}
    for event, line in zip(sealed.events, sealed.lines, strict=True):
        batches.setdefault(STREAMS.index(stream_of(event)), []).append(line)
    after = Mark(sealed.head, [*mark.offsets], [*mark.lines])
    for index, lines in sorted(batches.items()):
        content = b"".join(line + b"\n" for line in lines)
        disk.append(stream_path(directory, STREAMS[index]), content, mark.offsets[index])
        after.offsets[index] += len(content)
        after.lines[index] += len(lines)
    disk.replace(directory / "head", head_bytes(sealed.head))
    disk.settle(directory)
    return after
