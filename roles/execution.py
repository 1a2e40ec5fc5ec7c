"""Execution: what a reply, or its loss, puts on the ledger by the protocol's own functions.

The engine writes it, re-execution writes it again, and the rules compare it with what was committed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from ledger.events import Call, Event, Fallback
from ledger.events.values import Quorum
from ledger.state.book import Book
from ledger.store.failures import BlobMissing
from roles.protocol import Group, Protocol, Step, find_group, loss_of
from roles.replies import Reply
from roles.schema import parse_reply


class ParsedReply(NamedTuple):
    """A reply, or None and what is wrong with its shape; without errors its bytes are not there."""

    reply: Reply | None
    errors: tuple[str, ...] = ()


class UnreadReply(ValueError):
    """A recorded reply that is no reply to its step."""


def stored(protocol: Protocol, book: Book, step: Step, event: Event) -> ParsedReply:
    """The reply behind an event that answered `step`, read back from its blob."""
    content = book.blobs.read(event.call.reply) if event.call else None
    return ParsedReply(None) if content is None else parsed(protocol, book, step, content)


def parsed(protocol: Protocol, book: Book, step: Step, content: bytes) -> ParsedReply:
    """A reply's bytes as the shape that the step asks for."""
    return ParsedReply(*parse_reply(protocol.reply_type(book.state, step), content))


def reply_of(protocol: Protocol, book: Book, step: Step) -> Reply:
    """The reply of an answered step. Raises `BlobMissing` and `UnreadReply`."""
    reply, errors = stored(protocol, book, step, book.events[book.state.answered[step.id]])
    if reply is not None:
        return reply
    if not errors:
        raise BlobMissing(f"the reply of {step.id}")
    raise UnreadReply(f"{step.id}: a recorded reply no longer parses: {errors}")


def answered(
    protocol: Protocol, book: Book, step: Step, reply: Reply, call: Call, saw: tuple[int, ...]
) -> tuple[Event, ...]:
    """The commit of a reply that is known to be good. Raises what `reply_of` raises."""
    base = len(book.events)
    first, *others = protocol.record(book, step, reply)
    own = [msgspec.structs.replace(event, via=base) for event in others]
    closing = closed(protocol, book, _group(protocol, book, step), step, reply)
    return (
        msgspec.structs.replace(first, saw=saw, call=call),
        *own,
        *_through(closing, {**book.state.answered, step.id: base}),
    )


def given_up(protocol: Protocol, book: Book, step: Step, reason: str, detail: str) -> tuple[Event, ...]:
    """The commit that gives a step up: a fallback, what stands in for the reply, and the group's closing."""
    group = _group(protocol, book, step)
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
    """The events of a group's closing when `step` was its last one: nothing while another is open."""
    state = book.state
    if not all(other.id == step.id or state.is_done(other.id) for other in group.steps):
        return ()
    others = [other for other in group.steps if other.id != step.id and other.id in state.answered]
    replies = {other.id: read(protocol, book, other) for other in others}
    return protocol.close(book, group, replies if reply is None else {**replies, step.id: reply})


def _through(events: tuple[Event, ...], answered_at: dict[str, int]) -> list[Event]:
    """Each event of a closing with `via` to the first event of the reply that it follows from."""
    return [
        msgspec.structs.replace(event, via=answered_at[event.step]) if event.step else event
        for event in events
    ]


def _group(protocol: Protocol, book: Book, step: Step) -> Group:
    group = find_group(protocol, book.state, step.id)
    assert group is not None, f"{step.id} belongs to no group"
    return group
