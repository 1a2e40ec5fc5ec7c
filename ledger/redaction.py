"""Redaction of blobs: bytes that are removed on purpose, under an amendment that says so and why (FORMAT 2, 8).

What is redacted is said by the ledger: `amendment` with `what: redaction` and a change `blobs/<sha256>` from the hash
to null. A blob that is missing without one is damage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from ledger.events import Amendment, Event
from ledger.events.decisions import Change
from ledger.failures import LedgerError
from ledger.grammar import HASH
from ledger.ids import parse_step
from ledger.values import GENESIS

if TYPE_CHECKING:
    from ledger.book import Book
    from ledger.state import State
    from ledger.store import Run

PLACE: Final = "blobs/"
ORIGINAL: Final = "original"
"""In a redacted copy, the change that leads from the old head to the blob with the hashes of the old lines."""
LINE: Final = re.compile(r"@(0|[1-9][0-9]{0,15})(\.origin)?")
PREFIX: Final = re.compile(r"[0-9a-f]{8,64}")


class CannotRedact(LedgerError):
    """What was asked to be removed is not there, or is needed, or cannot be removed in this way."""

    exit_code = 2


def redacted_blobs(event: Event) -> Iterator[str]:
    """Hashes of the blobs that an event says are removed on purpose."""
    if isinstance(event, Amendment) and event.what == "redaction" and event.by == "human":
        for change in event.change:
            sha256 = change.path.removeprefix(PLACE)
            if change.path != sha256 and change.from_ == sha256 and change.to is None and HASH.fits(sha256):
                yield sha256


def seq_of(path: str) -> int | None:
    """The event that a change of a redacted copy is about: `@17`, or `@0.origin` where no words were replaced."""
    match = LINE.fullmatch(path)
    return int(match[1]) if match else None


def reworded(event: Event) -> Iterator[int]:
    """The events in which words were replaced, as a redacted copy says it."""
    if isinstance(event, Amendment) and event.what == "redaction":
        for change in event.change:
            match = LINE.fullmatch(change.path)
            if match is not None and match[2] is None:
                yield int(match[1])


def record_of_original(event: Event) -> str | None:
    """The hash of the blob that lists the lines of a redacted copy's original, if the event names one."""
    if isinstance(event, Amendment) and event.what == "redaction":
        for change in event.change:
            if change.path == ORIGINAL and isinstance(change.to, str) and HASH.fits(change.to):
                return change.to
    return None


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


def amendment(state: State, blobs: Sequence[str], reason: str, others: Sequence[Change] = ()) -> Amendment:
    """The event that says which blobs were removed and what else was changed."""
    gone = tuple(Change(path=f"{PLACE}{sha256}", from_=sha256, to=None) for sha256 in blobs)
    return Amendment(
        round=state.round,
        phase="close" if state.finished else state.phase,
        by="human",
        what="redaction",
        change=(*others, *gone),
        cause="human",
        reason=reason,
    )


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
    """A run that can go on still reads its prompt set, its documents, and the replies of the round it is in."""
    state: Any = book.state
    opened = state.opened
    if state.finished or opened is None or opened.origin.type == "import" or sha256 == GENESIS:
        return
    needed = {opened.prompt_set: "the prompt set"}
    needed |= {document.sha256: f"the document {document.id}" for document in opened.context}
    for event in book.events:
        if event.call is not None and event.round == state.round:
            needed[event.call.reply] = f"the reply to {event.step}"
    if sha256 in needed:
        mend = "finish the run first, or write a redacted copy with --secret and --out"
        raise CannotRedact(f"{needed[sha256]} is still needed", str(run.path), mend)
