"""What a process has read of a run: kept in memory, and only what came after is read again."""

from __future__ import annotations

import gc
import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from ledger.events import KINDS, STREAMS, Event, stream_of
from ledger.format.canonical import NewerVersion, NotCanonical, decode
from ledger.format.chain import BEGINNING, Head
from ledger.state.book import Blobs, Book, book
from ledger.store.failures import Damaged, NewerFormat, Problem
from ledger.store.following import Mark, merged, opened
from ledger.store.streams import line_number, read_head

_INDEX: Final = {kind: STREAMS.index(stream) for kind, (_, stream) in KINDS.items()}
"""Kind → index of its stream."""


def decoded(directory: Path, mark: Mark, until: Head) -> Generator[Event]:
    """The events after `mark` up to `until`, one at a time: chain, bytes, schema and stream are checked.

    Raises `Damaged` or `NewerFormat` at the event.
    """
    with opened(directory, mark) as files:
        lines = merged(str(directory), files, mark, until)
        for index, line, proven in lines:
            try:
                event = decode(line, proven)
            except NewerVersion as error:
                deque(lines, maxlen=0)  # a number that was only changed breaks the chain: that is damage
                fix = f"install a moot that knows format version {error.version}"
                raise NewerFormat("the run was written by a newer moot", str(directory), fix) from None
            except NotCanonical as error:
                raise _damaged(str(error), index, files, directory) from None
            if _INDEX[event.kind] != index:
                raise _damaged(f"a {event.kind} belongs to {stream_of(event)}", index, files, directory)
            yield event


def _damaged(what: str, index: int, files: list[BinaryIO], directory: Path) -> Damaged:
    """`what` is wrong with the line that a stream stands behind."""
    number = line_number(files[index], files[index].tell()) - 1
    return Damaged((Problem(what, None, STREAMS[index], number),), str(directory))


class Reading:
    """The events of one run as far as they were read, and the place behind them. Threads take `lock`."""

    def __init__(self, directory: Path, blobs: Blobs) -> None:
        self.lock: Final = threading.RLock()
        self.mark = Mark()
        self.events: tuple[Event, ...] = ()
        self._directory = directory
        self._blobs = blobs
        self._book: Book | None = None

    def catch_up(self) -> None:
        """Read up to the head. Raises `NotARun`, `Damaged` or `NewerFormat`."""
        head = read_head(self._directory)
        if head == self.mark.head:
            return
        if BEGINNING.seq < self.mark.head.seq < head.seq:
            with suppress(
                Damaged
            ):  # perhaps not the run that was read before: judged from its beginning below
                self._read_on(head)
                return
        self.mark, self.events, self._book = Mark(), (), None
        self._read_on(head)

    def extend(self, mark: Mark, events: tuple[Event, ...]) -> None:
        """Take in what follows; `mark` stands behind it."""
        self.mark = mark
        if events:
            self.events += events
            self._book = None

    def book(self) -> Book:
        """The events with what they fold to; the same object until there are more."""
        if self._book is None:
            self._book = book(self.events, self._blobs)
        return self._book

    def _read_on(self, head: Head) -> None:
        mark = self.mark.copy()
        with without_collecting():
            events = tuple(decoded(self._directory, mark, head))
        self.extend(mark, events)


@contextmanager
def without_collecting() -> Generator[None]:
    """Events hold no cycles, so the collector would only walk over all of them again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
