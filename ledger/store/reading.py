"""Reading: the lines of three streams in their one order, proven to continue the chain, then decoded (FORMAT 1, 8).

A process keeps what it has read of a run, and reads again only what came after.
"""

from __future__ import annotations

import gc
import re
import threading
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec

from ledger.events import KINDS, STREAMS, Event, StreamName, stream_of
from ledger.format.canonical import BEGINNING, Head, NotCanonical, OtherVersion, decode
from ledger.state.book import Blobs, Book, book
from ledger.store.disk import plain_file, readable
from ledger.store.failures import Damaged, OtherFormat, Problem
from ledger.store.streams import (
    LINE_ENDS,
    PREFIX,
    READ_BYTES,
    Acknowledged,
    check_blobs_end,
    has_other_line_ends,
    line_number,
    path_in,
    read_acknowledged,
)

BUFFER_BYTES: Final = 1 << 18
_LINE_FEED: Final = 10
_REST: Final = re.compile(rb"(0|[1-9][0-9]{0,15}),")

Link = tuple[int, bytes, int]
"""Stream index, line, and how many of its first bytes are proven to be right: prev, seq and rest."""


class LogPosition(msgspec.Struct):
    """Position of a reader: the head there, the offset in each stream, and the length of its blobs."""

    head: Head = BEGINNING
    offsets: list[int] = msgspec.field(default_factory=lambda: [0] * len(STREAMS))
    blobs: int = 0

    def copy(self) -> LogPosition:
        """Return the same place, which does not move with this one."""
        return LogPosition(self.head, [*self.offsets], self.blobs)


@contextmanager
def opened(directory: Path, position: LogPosition) -> Generator[list[BinaryIO]]:
    """Open the three streams at the offsets of `position`. Raises `Damaged` when one is missing."""
    with ExitStack() as stack, readable(directory):
        files: list[BinaryIO] = []
        for index, stream in enumerate(STREAMS):
            file = stack.enter_context(_open(directory, stream))
            file.seek(position.offsets[index])
            files.append(file)
        try:
            yield files
        except Damaged as error:
            if not has_other_line_ends(directory):
                raise
            # Every line of a checkout with CRLF is damaged for one reason. The reason comes first, with its
            # remedy.
            raise Damaged((Problem(LINE_ENDS), *error.problems), str(directory)) from None


def _open(directory: Path, stream: StreamName) -> BinaryIO:
    try:
        return plain_file(path_in(directory, f"{stream}.jsonl"), BUFFER_BYTES)
    except FileNotFoundError:
        raise Damaged((Problem("the stream is missing", stream=stream),), str(directory)) from None


def follow(directory: Path, position: LogPosition, until: Head) -> Iterator[Link]:
    """Yield every event's line after `position` up to `until`, in order.

    Each is given out when it continues the chain and its commit. `position` is moved to `until` at the end. Raises
    `Damaged` at the first line that does not, or when the streams end before `until`.
    """
    with opened(directory, position) as files:
        yield from merged(str(directory), files, position, until)


def merged(where: str, files: list[BinaryIO], position: LogPosition, until: Head) -> Iterator[Link]:
    """Yield the lines of `files`, open at `position`, in the order of `STREAMS`, as `follow` does.

    A line costs one hash, and one comparison with the beginning that it must have: nothing is parsed. While a line
    is yielded, its file position is right after it.
    """
    fronts = [file.readline(READ_BYTES) for file in files]
    seq, prev = position.head.seq, position.head.hash
    index = rest = 0
    while seq < until.seq:
        seq += 1
        wanted = f'{{"prev":"{prev}","seq":{seq},"rest":'.encode()
        # Events of one commit mostly share a stream, so the stream of the last line is tried first.
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
    position.head = until
    position.offsets = [file.tell() - len(front) for file, front in zip(files, fronts, strict=True)]


def _turn(fronts: list[bytes], wanted: bytes) -> int:
    """Return the stream whose next line begins as `wanted`, -1 when none does."""
    for index, front in enumerate(fronts):
        if front.startswith(wanted):
            return index
    return -1


def _rest(line: bytes, place: int, before: int) -> tuple[int, int]:
    """Return the number at `place` and its end; -1 where it should count down from the event before and does not."""
    counted = _REST.match(line, place)
    if counted is None or before not in (0, int(counted[1]) + 1):
        return -1, place
    return int(counted[1]), counted.end()


def _problem(what: str, seq: int, files: list[BinaryIO], fronts: list[bytes], index: int) -> Problem:
    """Return the problem `what` of the next line of a stream."""
    offset = files[index].tell() - len(fronts[index])
    return Problem(what, seq, STREAMS[index], line_number(files[index], offset))


def _break(files: list[BinaryIO], fronts: list[bytes], seq: int) -> Problem:
    """Return the reason why none of the next lines is event `seq`."""
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


_INDEX: Final = {kind: STREAMS.index(row.stream) for kind, row in KINDS.items()}
"""Kind → index of its stream."""


def decoded(directory: Path, position: LogPosition, until: Head) -> Generator[Event]:
    """Yield the events after `position` up to `until`, one at a time: chain, bytes, schema and stream are checked.

    Raises `Damaged` or `OtherFormat` at the event.
    """
    with opened(directory, position) as files:
        lines = merged(str(directory), files, position, until)
        for index, line, proven in lines:
            try:
                event = decode(line, proven)
            except OtherVersion as error:
                deque(lines, maxlen=0)  # a number that was only changed breaks the chain: that is damage
                raise OtherFormat.of(error.version, str(directory)) from None
            except NotCanonical as error:
                raise _damaged(str(error), index, files, directory) from None
            if _INDEX[event.kind] != index:
                raise _damaged(f"a {event.kind} belongs to {stream_of(event)}", index, files, directory)
            yield event


def _damaged(what: str, index: int, files: list[BinaryIO], directory: Path) -> Damaged:
    """Return the exception for a problem of the line just read from a stream."""
    number = line_number(files[index], files[index].tell()) - 1
    return Damaged((Problem(what, None, STREAMS[index], number),), str(directory))


class News(NamedTuple):
    """Events that were read. `anew`: read from the beginning, and what was read before is not part of this run."""

    anew: bool
    events: tuple[Event, ...]


class LogTail:
    """Progress of one process in reading a run: each event is returned once."""

    def __init__(self, directory: Path) -> None:
        self.position = LogPosition()
        self._directory = directory

    def news(self) -> News | None:
        """Return what was committed since the last call; None for nothing.

        Raises `NotARun`, `Damaged` or `OtherFormat`.
        """
        last = read_acknowledged(self._directory)
        if last.head == self.position.head:
            return None
        # A directory may hold another run now. The chain proves a continuation; when it does not fit,
        # everything is read again.
        if BEGINNING.seq < self.position.head.seq < last.head.seq:
            with suppress(Damaged):  # perhaps not the run that was read before: read from its beginning below
                return News(False, self._read_on(last))
        self.position = LogPosition()
        return News(True, self._read_on(last))

    def _read_on(self, last: Acknowledged) -> tuple[Event, ...]:
        position = self.position.copy()
        with without_collecting():
            events = tuple(decoded(self._directory, position, last.head))
        # Streams may be whole while `blobs.jsonl` was cut. A commit names blobs, so both must be there.
        check_blobs_end(self._directory, last.blobs)
        position.blobs = last.blobs
        # The position moves only after all of it was read, so a failure leaves the reader where it was.
        self.position = position
        return events


class LogReader:
    """Events of one run as far as they were read, and the position after them. Threads take `lock`."""

    def __init__(self, directory: Path, blobs: Blobs) -> None:
        self.lock: Final = threading.RLock()
        self.events: tuple[Event, ...] = ()
        self._tail = LogTail(directory)
        self._blobs = blobs
        self._book: Book | None = None

    @property
    def position(self) -> LogPosition:
        """Return the position after the last event."""
        return self._tail.position

    def catch_up(self) -> None:
        """Read up to the head. Raises `NotARun`, `Damaged` or `OtherFormat`."""
        news = self._tail.news()
        if news is not None:
            self.events = news.events if news.anew else (*self.events, *news.events)
            self._book = None

    def extend(self, position: LogPosition, events: tuple[Event, ...]) -> None:
        """Add what this process wrote, up to `position`."""
        self._tail.position = position
        if events:
            self.events += events
            self._book = None

    def book(self) -> Book:
        """Return the events with their folded state; the same object until there are more."""
        if self._book is None:
            self._book = book(self.events, self._blobs)
        return self._book


@contextmanager
def without_collecting() -> Generator[None]:
    """Disable garbage collection in a block that creates many events.

    Events hold no cycles, so the collector would only walk over all of them again and again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
