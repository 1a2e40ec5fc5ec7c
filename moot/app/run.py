"""A run to read: its events, the state that they fold to, its claims, decisions and outcome."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ledger.events import Event
from ledger.state.book import Book
from ledger.state.state import State
from ledger.store import store

if TYPE_CHECKING:
    from ledger.format.canonical import Head
    from ledger.store.failures import Problem
    from moot.run_view import RunView
    from moot.view.claims import ClaimLine, DecisionLine
    from moot.view.outcome import Outcome
    from rounds.run.outcome import RunQuorum

AnyPath = str | os.PathLike[str]


class Run:
    """A run to read. It never writes, and it reads only what the head vouches for."""

    def __init__(self, path: AnyPath) -> None:
        self.path: Final = Path(path)
        self._store: Final = store.RunStore(self.path)
        # Raises at once where there is no run, not at the first property that is read.
        self._store.head()
        self._folded: tuple[Head, State] | None = None

    @property
    def head(self) -> Head:
        """Return the last commit."""
        return self._store.head()

    @property
    def book(self) -> Book:
        """Return all events with their state and an index of ids. Raises `StrangeRun` when they do not form a run."""
        return self._store.book()

    @property
    def raw_book(self) -> Book:
        """Return the same without that check, to judge events that may not form a run."""
        return self._store.raw_book()

    @property
    def events(self) -> tuple[Event, ...]:
        """Return all events, in order."""
        return self._store.events()

    @property
    def state(self) -> State:
        """Return the state after the last event, read anew after a commit, without keeping the events."""
        head = self._store.head()
        # Folding a long ledger takes seconds, and pages ask for the state several times between two commits.
        if self._folded is None or self._folded[0] != head:
            self._folded = (head, self._store.state())
        return self._folded[1]

    @property
    def view(self) -> RunView:
        """Return the facts derived from the book; the same object until something is committed."""
        from moot.run_view import RunView

        book = self.book
        # Kept with the book in one atomic step: threads that ask at the same time get the same view.
        view: RunView = book.facts.setdefault("view", RunView(book, str(self.path), self.path))
        return view

    @property
    def claims(self) -> list[ClaimLine]:
        """Return the claims with their lifecycles."""
        from moot.view.claims import claims_of

        return claims_of(str(self.path), self.book).claims

    @property
    def decisions(self) -> list[DecisionLine]:
        """Return the decisions with their grounds."""
        from moot.view.claims import decision_lines

        return decision_lines(self.book)

    @property
    def outcome(self) -> Outcome:
        """Return the outcome: the answer, how sure, why, what would change it, what it needs from a person."""
        return self.view.outcome

    @property
    def quorum(self) -> RunQuorum:
        """Return the declared and the actual quorum, what was lost, and whether a role decided."""
        return self.view.quorum

    @property
    def blobs(self) -> store.BlobStore:
        """Return the store of prompts, replies and documents, by hash."""
        return self._store.blobs

    def problems(self) -> list[Problem]:
        """Return what is wrong or worth knowing besides the events: blobs, bytes after the head, extra files."""
        from ledger.audit.verify import problems_of

        return problems_of(self._store)

    def stream(self, at: int | None = None) -> Iterator[Event]:
        """Yield all events, or those up to sequence number `at`, one at a time."""
        events = self._store.stream()
        # Lazy, so that an early state of a long run is read without its later events.
        return events if at is None else takewhile(lambda event: event.seq <= at, events)

    def lines(self) -> Iterator[tuple[str, int, bytes]]:
        """Yield stream, line number and line of every event, in order."""
        return self._store.lines()
