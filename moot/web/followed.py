"""A run as one process follows it: read once, then only what came after; nothing is ever written or locked."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Final

from ledger.events import Event, RunOpened
from ledger.format.chain import BEGINNING
from ledger.state.book import Book
from ledger.state.fold import fold
from ledger.state.state import State
from ledger.store.blobs import BlobStore, Remembered
from ledger.store.failures import Damaged
from ledger.store.following import Mark
from ledger.store.reading import decoded, without_collecting
from ledger.store.strange import refuse_unopened
from ledger.store.streams import read_head
from moot.view.banners import Calls
from moot.view.grounds import Sources


class Followed:
    """The events of a run with what they fold to. Whoever reads it holds `lock`, for it grows."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self.blobs: Final = Remembered(BlobStore(path / "blobs"))
        self.lock: Final = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._mark = Mark()
        self.state = State()
        self.sources = Sources()
        self.calls = Calls()
        self.replies: Counter[str | None] = Counter()
        self._events: list[Event] = []
        self._by_id: dict[str, Event] = {}
        self._book: Book | None = None

    @property
    def seq(self) -> int:
        """The last event that was read; −1 before the first."""
        return self._mark.head.seq

    @property
    def opened(self) -> RunOpened:
        """The opening in force."""
        return self.state.opening

    @property
    def head_hash(self) -> str:
        """The hash of the last event that was read."""
        return self._mark.head.hash

    def catch_up(self) -> bool:
        """Read up to the head; whether there was more. Raises what `Run.book` raises, for a strange run every time."""
        news = self._catch_up()
        refuse_unopened(self.state, self.path)
        return news

    def _catch_up(self) -> bool:
        head = read_head(self.path)
        if head == self._mark.head:
            return False
        if BEGINNING.seq < self._mark.head.seq < head.seq:
            try:
                self._read_to_head()
            except Damaged:  # perhaps another run has taken its place: judged from its beginning
                self._forget()
                self._read_to_head()
        else:
            self._forget()
            self._read_to_head()
        return True

    def _read_to_head(self) -> None:
        mark = self._mark.copy()
        with without_collecting():
            events = list(decoded(self.path, mark, read_head(self.path)))
        self._mark = mark
        self._take(events)

    def _take(self, events: list[Event]) -> None:
        self._events += events
        self._book = None
        fold(events, self.state)
        self.sources.take(events)
        for event in events:
            if event.id is not None:
                self._by_id.setdefault(event.id, event)
            if event.call is not None:
                self.calls.add(event)
                self.replies[event.call.simulated] += 1

    def book(self) -> Book:
        """What stands now; it goes on growing."""
        if self._book is None:
            self._book = Book(tuple(self._events), self.state, self._by_id, self.blobs)
        return self._book

    def round_book(self, round_: int) -> Book:
        """The same with the events of one round alone."""
        return self.sources.round_of(self.book(), round_)
