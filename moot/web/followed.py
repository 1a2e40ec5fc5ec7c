"""A run that is followed by this process: read once, then only its new events; never written and never locked.

Also what every page of a run shows first: its labels, its state, and how far the seats were isolated.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from ledger.events import Event, RunOpened
from ledger.events.ids import parse_reference
from ledger.plain_text import one_line
from ledger.state.anchors import strings
from ledger.state.book import Book, GrowingBook
from ledger.state.state import State
from ledger.store.blob_file import BlobStore
from ledger.store.failures import refuse_unopened
from ledger.store.reading import LogTail
from ledger.store.store import read_driver
from moot.view.grounds import Sources
from moot.view.labels import Calls, Label, labels_of

if TYPE_CHECKING:
    from validators.rulebook import CheckReport

ID_MAX: Final = 120
"""Most characters of a reference; longer texts are not looked up."""
AROUND: Final = 90
"""Characters shown before and after a search hit."""
RULES_EVENTS_MAX: Final = 3_000
"""Events beyond which the rules take long, and run only on request."""


class Followed:
    """The events of a run with their state. Readers hold `lock`, because it grows."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self.blobs: Final = BlobStore(path)
        # Reentrant, because a page that holds the lock calls methods that take it again.
        self.lock: Final = threading.RLock()
        self._tail = LogTail(path)
        self._forget()

    def _forget(self) -> None:
        self._ledger = GrowingBook(self.blobs)
        self.sources = Sources()
        self.calls = Calls()
        self.replies: Counter[str | None] = Counter()
        self._naming: dict[str, list[Event]] = {}
        self._naming_seen = 0
        self._checked: tuple[str, CheckReport] | None = None

    @property
    def state(self) -> State:
        """Return the state after the events so far."""
        return self._ledger.state

    @property
    def seq(self) -> int:
        """Return the sequence number of the last event that was read; −1 before the first."""
        return self._tail.mark.head.seq

    @property
    def opened(self) -> RunOpened:
        """Return the opening in force."""
        return self.state.opening

    @property
    def head_hash(self) -> str:
        """Return the hash of the last event that was read."""
        return self._tail.mark.head.hash

    def catch_up(self) -> bool:
        """Read up to the head; return whether there was more.

        Raises what `Run.book` raises, for a run that breaks the rules every time.
        """
        news = self._tail.news()
        if news is not None:
            # The ledger was replaced, not extended, so nothing that was read before holds any longer.
            if news.anew:
                self._forget()
            self._take(news.events)
        refuse_unopened(self.state, self.path)
        return news is not None

    def _take(self, events: tuple[Event, ...]) -> None:
        self._ledger.take(events)
        self.sources.take(events)
        for event in events:
            if event.call is not None:
                # Counted while reading, so that no page walks over all events again.
                self.calls.add(event)
                self.replies[event.call.simulated] += 1

    def book(self) -> Book:
        """Return the events and their state so far; the book goes on growing."""
        return self._ledger.book()

    def round_book(self, round_: int) -> Book:
        """Return the book with the events of one round alone."""
        return self.sources.round_of(self.book(), round_)

    def named_by(self, identity: str) -> list[Event]:
        """Return the later events that cite, test, answer or quote an event. Each event is searched once."""
        book = self.book()
        for event in book.events[self._naming_seen :]:
            texts = strings(msgspec.to_builtins(event))
            # Long texts are prose: only short ones can be an id or a reference.
            named = {
                name for text in texts if len(text) < ID_MAX for name in (text, parse_reference(text).id)
            }
            for name in named & book.by_id.keys():
                # Only later events name an earlier one; the same text in an older event is a coincidence.
                if book.by_id[name].seq < event.seq:
                    self._naming.setdefault(name, []).append(event)
        self._naming_seen = len(book.events)
        return self._naming.get(identity, [])

    def says(self, event: Event, words: Sequence[str]) -> bool:
        """Return whether an event contains all words (given in lower case)."""
        if not words:
            return True
        text = " ".join(strings(msgspec.to_builtins(event))).casefold()
        return all(word in text for word in words)

    def around(self, event: Event, words: Sequence[str]) -> tuple[str, str, str]:
        """Return the first of these words (in lower case) in an event, with the text before and after it."""
        text = one_line(" ".join(strings(msgspec.to_builtins(event))))
        places = [place for word in words if (place := text.casefold().find(word)) >= 0]
        if not places:
            return "", "", ""
        first = min(places)
        # Of two words that begin at one place the longer one is highlighted.
        length = max(len(word) for word in words if text.casefold().startswith(word, first))
        end = first + length
        return text[max(0, first - AROUND) : first], text[first:end], text[end : end + AROUND]

    def checked(self, anyway: bool = False) -> CheckReport | None:
        """Return every rule that the ledger breaks, as `moot check` does, computed once per head.

        None when the run is so long that the rules only run on request.
        """
        import moot

        head = self.head_hash
        # Keyed by the head: the same events give the same findings, and the rules take long on a long run.
        if self._checked is None or self._checked[0] != head:
            if self.seq >= RULES_EVENTS_MAX and not anyway:
                return None
            self._checked = (head, moot.check(self.path))
        return self._checked[1]


def standing_of(run: Followed) -> str:
    """Return `finished`, `stopped`, `imported`, `running` while a process drives it, else `waiting`."""
    state = run.state
    if state.finished:
        return "finished"
    if state.is_import:
        return "imported"
    if state.stopped_by is not None:
        return "stopped"
    # A driver holds a lock while it lives, so a crashed one counts as gone.
    return "running" if read_driver(run.path) is not None else "waiting"


def labels_shown(run: Followed) -> tuple[Label, ...]:
    """Return the labels of a run, the gravest first; the last counts replies from seats that were not isolated."""
    labels, calls = labels_of(run.state, run.replies), run.calls
    if not calls.trusted:
        return labels
    text = (
        f"{calls.trusted} of {calls.all} replies came from seats that could have read more than their brief; "
        "the ledger proves what each brief contained, not what else was known"
    )
    return (*labels, Label("UNVERIFIED", text))


def isolation_of(run: Followed) -> str:
    """Return how far the seats were isolated, in words that claim no more than the ledger proves."""
    calls = run.calls
    if not calls.all:
        return ""
    text = f"{calls.enforced} of {calls.all} replies came from seats that got the brief and nothing else (enforced)"
    if calls.trusted:
        text += f"; {calls.trusted} from seats that could have read more (trusted, unverified)"
    if calls.continued:
        text += f"; {calls.continued} in a continued context"
    return text + "."
