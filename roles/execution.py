"""Compute the events of a reply, or of a lost reply, with the protocol's own functions.

The engine commits them, re-execution computes them again, and the rules compare them with the committed events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from ledger.events import Call, Event, Fallback
from ledger.events.envelope import Quorum
from ledger.state.book import Book
from ledger.store.failures import BlobMissing
from roles.protocol import Group, Protocol, Step, find_group, loss_of
from roles.replies import Reply
from roles.schema import parse_reply


class ParsedReply(NamedTuple):
    """Parsed reply, or None with its errors; None without errors means that its bytes are missing."""

    reply: Reply | None
    errors: tuple[str, ...] = ()


class UnreadReply(ValueError):
    """Error for a recorded reply that does not parse as a reply to its step."""


def stored(protocol: Protocol, book: Book, step: Step, event: Event) -> ParsedReply:
    """Parse the reply of an event that answered `step` from its blob."""
    content = book.blobs.read(event.call.reply) if event.call else None
    return ParsedReply(None) if content is None else parsed(protocol, book, step, content)


def parsed(protocol: Protocol, book: Book, step: Step, content: bytes) -> ParsedReply:
    """Parse the bytes of a reply as the type that the step requires."""
    return ParsedReply(*parse_reply(protocol.reply_type(book.state, step), content))


def reply_of(protocol: Protocol, book: Book, step: Step) -> Reply:
    """Return the reply of an answered step. Raises `BlobMissing` and `UnreadReply`."""
    reply, errors = stored(protocol, book, step, book.events[book.state.answered[step.id]])
    if reply is not None:
        return reply
    if not errors:
        raise BlobMissing(f"the reply of {step.id}")
    raise UnreadReply(f"{step.id}: a recorded reply no longer parses: {errors}")


def answered(
    protocol: Protocol, book: Book, step: Step, reply: Reply, call: Call, saw: tuple[int, ...]
) -> tuple[Event, ...]:
    """Return the events of the commit for a valid reply. Raises the errors of `reply_of`."""
    base = len(book.events)
    first, *others = protocol.record(book, step, reply)
    # The first event carries the call, so the others of the reply point to it.
    own = [msgspec.structs.replace(event, via=base) for event in others]
    closing = closed(protocol, book, _group(protocol, book, step), step, reply)
    return (
        msgspec.structs.replace(first, saw=saw, call=call),
        *own,
        *_through(closing, {**book.state.answered, step.id: base}),
    )


def given_up(protocol: Protocol, book: Book, step: Step, reason: str, detail: str) -> tuple[Event, ...]:
    """Return the events of the commit that gives up a step: fallback, substitutes, and closing of the group."""
    group = _group(protocol, book, step)
    # The step itself is not given up on the ledger yet, so it is added.
    lost = sum(other.id in book.state.given_up for other in group.steps) + 1
    fallback = Fallback(
        round=step.name.round,
        phase=step.name.phase,
        by="controller",
        role=step.role,
        step_failed=step.id,
        reason=reason,  # type: ignore[arg-type]  # one of the literals; the callers' types say so
        detail=detail,
        instead=loss_of(protocol.losses, step.name).instead,
        quorum=Quorum(declared=len(group.steps), actual=len(group.steps) - lost),
    )
    closing = _through(closed(protocol, book, group, step, None), book.state.answered)
    return (fallback, *protocol.give_up(book, step), *closing)


def closed(
    protocol: Protocol,
    book: Book,
    group: Group,
    step: Step,
    reply: Reply | None,
    read: Callable[[Protocol, Book, Step], Reply] = reply_of,
) -> tuple[Event, ...]:
    """Return the events that close a group if `step` was its last open step, otherwise nothing."""
    state = book.state
    if not all(other.id == step.id or state.is_done(other.id) for other in group.steps):
        return ()
    # The reply of `step` itself is not committed yet, so it is passed in; those of its siblings are read back.
    others = [other for other in group.steps if other.id != step.id and other.id in state.answered]
    replies = {other.id: read(protocol, book, other) for other in others}
    return protocol.close(book, group, replies if reply is None else {**replies, step.id: reply})


def _through(events: tuple[Event, ...], answered_at: dict[str, int]) -> list[Event]:
    """Set `via` of each event of a closing to the first event of the reply it follows from."""
    return [
        msgspec.structs.replace(event, via=answered_at[event.step]) if event.step else event
        for event in events
    ]


def _group(protocol: Protocol, book: Book, step: Step) -> Group:
    group = find_group(protocol, book.state, step.id)
    assert group is not None, f"{step.id} belongs to no group"
    return group
