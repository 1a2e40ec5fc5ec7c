"""Removing blobs from a run: first the amendment that says so and why, then the bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ledger.book import Book
from ledger.events import Event
from ledger.ids import parse_step
from ledger.named_blobs import named_blobs
from ledger.redaction import CannotRedact, amendment, redacted_blobs
from ledger.store import Run

PREFIX: Final = re.compile(r"[0-9a-f]{8,64}")


def redact(
    run: Run, names: Sequence[str], reason: str, *, at: str
) -> tuple[tuple[Event, ...], tuple[str, ...]]:
    """Record that blobs are removed, then remove them; what was written, and the hashes of the blobs.

    A name is a hash or its beginning, a document (`K-1`), or a step, which means every reply that it had. What is
    recorded already is only removed, so that a redaction which was interrupted can be done again. Raises
    `CannotRedact`, and what a writer raises.
    """
    with run.writer() as writer:
        book = writer.book()
        wanted = tuple(dict.fromkeys(sha256 for name in names for sha256 in _named(name, book, run)))
        for sha256 in wanted:
            _refuse_what_is_needed(sha256, book, run)
        recorded = {sha256 for event in book.events for sha256 in redacted_blobs(event)}
        fresh = [sha256 for sha256 in wanted if sha256 not in recorded]
        events = writer.commit([amendment(book.state, fresh, reason)] if fresh else [], at=at)
        for sha256 in wanted:
            run.blobs.remove(sha256)
    return events, wanted


def _named(name: str, book: Book, run: Run) -> tuple[str, ...]:
    """The hashes that a person's word means. Raises `CannotRedact`."""
    where = str(run.path)
    opened = book.state.opened
    for document in opened.context if opened else ():
        if document.id == name:
            return (document.sha256,)
    if parse_step(name) is not None:
        found = tuple(sha256 for event in book.events if event.step == name for sha256 in _replies(event))
        if not found:
            raise CannotRedact(
                f"no reply to {name}", where, "see `moot log` for the steps that were answered"
            )
        return found
    if not PREFIX.fullmatch(name):
        mend = "name a hash (or its first 8 digits), a document such as K-1, or a step such as r3.D.critic"
        raise CannotRedact(f"{name!r} names no blob", where, mend)
    known = {sha256 for event in book.events for sha256 in redacted_blobs(event)} | set(run.blobs.names())
    fits = sorted(sha256 for sha256 in known if sha256.startswith(name))
    if len(fits) != 1:
        what = f"{len(fits)} blobs begin with {name}" if fits else f"no blob begins with {name}"
        raise CannotRedact(
            what, where, "give the whole hash; `moot log --json` shows those of briefs and replies"
        )
    return (fits[0],)


def _replies(event: Event) -> tuple[str, ...]:
    if event.call is None:
        return ()
    earlier = (attempt.reply for attempt in event.call.attempts if attempt.reply is not None)
    return tuple(dict.fromkeys((*earlier, event.call.reply)))


def _refuse_what_is_needed(sha256: str, book: Book, run: Run) -> None:
    """A run that can go on still reads what its opening names, and the replies of the round it is in."""
    state = book.state
    opened = state.opened
    if state.finished or opened is None or opened.origin.type == "import":
        return
    needed = {named.sha256: named.what for named in named_blobs(opened)}
    for event in book.events:
        if event.call is not None and event.round == state.round:
            needed[event.call.reply] = f"the reply to {event.step}"
    if sha256 in needed:
        mend = "finish the run first, or write a redacted copy with --secret and --out"
        raise CannotRedact(f"{needed[sha256]} is still needed", str(run.path), mend)
