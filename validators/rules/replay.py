"""Replay: running the protocol again gives what was committed.

A moment is the book as it was when a step opened or was answered, for rules that fold as they go. These walks are for
rules that run the protocol again, as far as the recorded rules reported no error: its functions may assume a lawful
book. A moment's book changes with the next moment, so read it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from ledger.events import (
    KINDS,
    Decision,
    Event,
    Fallback,
    RoundOpened,
    RunClosed,
    RunOpened,
    Screening,
    Validation,
)
from ledger.state import book as books
from ledger.state.book import Book, GrowingBook, with_next
from ledger.store.failures import BlobMissing
from roles.asof import after_owed
from roles.execution import ParsedReply, UnreadReply, closed, given_up, reply_of, stored
from roles.protocol import Group, Protocol, Step, find_group, find_step, open_group
from roles.replies import Reply
from validators.finding import Breach
from validators.ledger_index import LedgerIndex, is_reply
from validators.rule import rule


class Moment(msgspec.Struct, frozen=True):
    """First event of a reply, the step and group that it answers, and the book at that moment."""

    event: Event
    step: Step
    group: Group
    book: Book


def answered(index: LedgerIndex, protocol: Protocol) -> Iterator[Moment]:
    """Yield the moment just before every reply to a step that the protocol knows there."""
    through = min(index.openings.known_through, index.sound_through())
    group: Group | None = None
    for event, alive in _walk(index):
        if event.seq > through:
            return
        if is_reply(event) and alive.state.round in alive.state.rounds:
            # Replies of one group follow each other, so the protocol is asked for a group once and not once per
            # reply.
            if group is None or all(step.id != event.step for step in group.steps):
                group = find_group(protocol, alive.state, event.step or "")
            for step in group.steps if group else ():
                if step.id == event.step and group is not None:
                    yield Moment(event, step, group, alive.book())


def opened(index: LedgerIndex, protocol: Protocol) -> Iterator[Moment]:
    """Yield the moment at which each answered step had opened, with everything that the controller owed by then."""
    sound = index.sound_through()
    replies = {event.step: event for event in index.events if is_reply(event) and event.seq <= sound}
    waiting: dict[int, set[str]] = {}
    for step_id, through in index.openings.of.items():
        if step_id in replies:
            # A brief is derived after what the controller owed at that point, such as its verdicts on
            # inapplicable checks.
            waiting.setdefault(after_owed(index.events, through + 1), set()).add(step_id)
    for event, alive in _walk(index):
        group = open_group(protocol, alive.state) if event.seq in waiting else None
        for step in group.steps if group is not None else ():
            if step.id in waiting[event.seq] and group is not None and not alive.state.is_done(step.id):
                yield Moment(replies[step.id], step, group, alive.book())


def commits(index: LedgerIndex) -> Iterator[tuple[tuple[Event, ...], Book]]:
    """Yield (its events, the book before it) of every commit in which the recorded rules reported no error."""
    through = min(index.openings.known_through, index.sound_through())
    alive = GrowingBook(index.book.blobs)
    for commit in books.commits(index.events[: through + 1]):
        # The last commit may be cut off by the limit, and half a commit cannot be compared with what was due.
        if commit[-1].rest == 0:
            yield commit, alive.book()
            alive.take(commit)


def unjudged(index: LedgerIndex) -> Iterator[Breach]:
    """Yield a warning when replies follow an event where the ledger is broken: the protocol is not run on that."""
    sound = index.sound_through()
    if any(is_reply(event) and event.seq > sound for event in index.events):
        yield Breach(
            sound + 1, f"not judged from event {sound + 1} on, where other rules are broken", "warning"
        )


def _walk(index: LedgerIndex) -> Iterator[tuple[Event, GrowingBook]]:
    """Yield each event with the growing book before it."""
    alive = GrowingBook(index.book.blobs)
    for event in index.events:
        yield event, alive
        alive.take((event,))


_SEALED: Final = frozenset({"prev", "seq", "rest", "at", "saw", "call", "via"})
"""Envelope fields that the commit sets."""


@rule("FLW001", "error", source="FORMAT 5, FORMAT 7, FORMAT 8", applies_to_imports=False, recorded=False)
def event_follows_from_its_reply(index: LedgerIndex) -> Iterator[Breach]:
    """What a step put on the ledger is what its stored reply says, and what closing its group yields.

    The protocol's own functions are run again on the reply's blob. A ledger whose events were edited together with
    their hashes would pass every other rule.
    """
    protocol = index.context.protocol
    if protocol is None:
        return
    group: Group | None = None
    replies: dict[str, ParsedReply] = {}  # of the group's steps
    for moment in answered(index, protocol):
        # Closing a group reads all of its replies, so they are kept until the next group begins.
        if moment.group is not group:
            group, replies = moment.group, {}
        yield from _reply(index, protocol, moment, replies)
    yield from _strays(index)
    yield from unjudged(index)


def _strays(index: LedgerIndex) -> Iterator[Breach]:
    """Yield events of a step that no reply brought with it."""
    for before, event in pairwise(index.events):
        # A reply and its events are one commit. An event of a step that starts a commit was added later.
        if event.step is not None and event.call is None and before.rest == 0:
            yield Breach(event.seq, f"a {event.kind} of {event.step} stands apart from its reply")


def _reply(
    index: LedgerIndex, protocol: Protocol, moment: Moment, replies: dict[str, ParsedReply]
) -> Iterator[Breach]:
    seq = moment.event.seq
    reply, errors = replies[moment.step.id] = stored(protocol, moment.book, moment.step, moment.event)
    if reply is None:
        if errors:
            yield Breach(seq, f"the reply of {moment.step.id} does not parse: {errors[0]}")
        return
    wrong, drafts = _refused(protocol, moment, reply), tuple[Event, ...]()
    # Quotes from a removed document cannot be found, which the protocol cannot tell from an invented quote.
    if wrong is not None and index.lacks_a_document:
        yield Breach(
            seq, f"the reply of {moment.step.id} cannot be judged without a redacted document", "warning"
        )
        wrong = None
    try:
        drafts = () if wrong else protocol.record(moment.book, moment.step, reply)
    # Protocol functions may assume a lawful reply. One that breaks them would never have been accepted.
    except (LookupError, ValueError, AssertionError):
        wrong = "it names what is not there"
    if wrong is not None:
        # Steps that close the group must not read a refused reply either.
        replies[moment.step.id] = ParsedReply(None)
        yield Breach(seq, f"the reply of {moment.step.id} could not be accepted: {wrong}")
        return
    yield from compare(drafts, index.events[seq : seq + len(drafts)], seq, moment.step.id)
    try:
        closing = closed(protocol, moment.book, moment.group, moment.step, reply, _once(replies))
    # A sibling's reply is missing or was refused, and that is reported where it happened.
    except (BlobMissing, UnreadReply):
        return
    except (LookupError, ValueError, AssertionError):
        yield Breach(seq, f"{_name(moment.group)} cannot be made: a reply names what is not there")
        return
    start = seq + len(drafts)
    yield from compare(closing, index.events[start : start + len(closing)], start - 1, _name(moment.group))
    # Whatever the commit holds beyond its due events was added by hand.
    for event in index.events[start + len(closing) : seq + moment.event.rest + 1]:
        yield Breach(event.seq, f"a {event.kind} that the reply of {moment.step.id} does not yield")


def _refused(protocol: Protocol, moment: Moment, reply: Reply) -> str | None:
    """Return why a reply of a short protocol would have been refused.

    In `structured` rules of their own judge what a reply became, and asking again would cost a quarter of a check.
    """
    if protocol.watched:
        return None
    problems = protocol.problems(moment.book, moment.step, reply, frozenset(moment.event.saw))
    return problems[0] if problems else None


def _once(replies: dict[str, ParsedReply]) -> Callable[[Protocol, Book, Step], Reply]:
    """Return a reader that parses each reply once, and raises `UnreadReply` for one that was refused."""

    def read(protocol: Protocol, book: Book, step: Step) -> Reply:
        known = replies[step.id].reply if step.id in replies else reply_of(protocol, book, step)
        if known is None:
            raise UnreadReply(step.id)
        return known

    return read


def compare(drafts: Sequence[Event], events: Sequence[Event], seq: int, what: str) -> Iterator[Breach]:
    """Yield the first draft that differs from what was committed."""
    for place, draft in enumerate(drafts):
        if place >= len(events):
            yield Breach(seq, f"{what} yields {draft.kind_and_id}, which is not there")
            return
        event = events[place]
        field = _difference(draft, event)
        if field is not None:
            yield Breach(event.seq, f"{event.kind_and_id} is not what {what} yields: {field} differs")
            return


def _difference(draft: Event, event: Event) -> str | None:
    """Return the first field in which a committed event differs from its draft."""
    if type(draft) is not type(event):
        return "kind"
    sealed = {name: getattr(event, name) for name in _SEALED}
    if msgspec.structs.replace(draft, **sealed) == event:  # nearly always, and then there is no more to do
        return None
    for name in draft.__struct_fields__:
        if name not in _SEALED and getattr(draft, name) != getattr(event, name):
            return name.rstrip("_")
    return None


def _name(group: Group) -> str:
    return f"the closing of {group.name}"


_BY_PROTOCOL: Final = frozenset({"ruling", "score"})
"""What the controller writes where the protocol's own rule asks for it. Rules of their own look at the rest."""


@rule("FLW002", "error", source="FORMAT 8, AD-8, S4-14, XS-9", applies_to_imports=False, recorded=False)
def controller_writes_what_is_due(index: LedgerIndex) -> Iterator[Breach]:
    """In a short protocol the controller writes what is due, when it is due, and no more.

    Rulings, decisions by rule, and replacements for a lost reply follow from the ledger alone. One that was edited,
    added or left out would pass for the rule's own.
    """
    protocol = index.context.protocol
    if protocol is None or protocol.watched:
        return
    for events, book in commits(index):
        first = events[0]
        if isinstance(first, Fallback):
            yield from _stand_ins(protocol, book, first, events)
        # These events mark the end of what came before, so everything that was owed must be there by now.
        elif isinstance(first, Validation | RoundOpened) or (
            isinstance(first, RunClosed) and first.state == "finished"
        ):
            yield from _forgotten(protocol, book, first)
        elif isinstance(first, Decision) and first.type == "answer" and first.by == "human":
            due = protocol.after_answer(with_next(book, first), first)
            yield from compare(due, events[1:], first.seq, "the answer")
            yield from _surplus(len(due), events[1:])
        elif first.by == "controller" and (not KINDS[first.kind].by_controller or first.kind in _BY_PROTOCOL):
            yield from compare(protocol.owed(book), events, first.seq, "the rule")
            yield from _surplus(len(protocol.owed(book)), events)


def _forgotten(protocol: Protocol, book: Book, event: Event) -> Iterator[Breach]:
    if book.state.opened is not None and book.state.round in book.state.rounds:
        for owed in protocol.owed(book):
            yield Breach(event.seq, f"{owed.kind_and_id} was due before this and is not there")


def _stand_ins(protocol: Protocol, book: Book, lost: Fallback, events: Sequence[Event]) -> Iterator[Breach]:
    step = find_step(protocol, book.state, lost.step_failed)
    if step is None:
        return
    try:
        drafts = given_up(protocol, book, step, lost.reason, lost.detail)
    except (BlobMissing, UnreadReply):
        return
    yield from compare(drafts, events, lost.seq, step.id)
    yield from _surplus(len(drafts), events)


def _surplus(due: int, events: Sequence[Event]) -> Iterator[Breach]:
    for event in events[due:]:
        yield Breach(event.seq, f"a {event.kind} that nothing made due")


@rule(
    "SCR001",
    "error",
    source="S4-22, S4-28, S4-29, FORMAT 2 (`screening`)",
    applies_to_imports=False,
    recorded=False,
)
def text_is_screened(index: LedgerIndex) -> Iterator[Breach]:
    """Question and documents are screened before any answer, and nothing is answered while a hold is in force.

    A screening is recomputed from the opening and its documents. An override is a person's, recorded, and cites it.
    A screening by other rules than the installed ones is accepted as recorded. One of words that were redacted is a
    warning, because it cannot be repeated.
    """
    due = index.context.screenings
    if due is None or index.opened is None or not index.opened.rules.get("screening"):
        return
    # Screening happens before anything else, so only the opening and its documents may be read.
    expected = due(index.book.first(1))
    if (
        any(isinstance(event, Screening) and event.by == "controller" for event in index.events)
        and not expected
    ):
        return  # by other rules than the installed ones
    following = index.events[1 : 1 + len(expected)]
    yield from _screenings(index, expected, following)
    for event in index.events[1 + len(expected) :]:
        if isinstance(event, Screening) and event.by == "controller":
            yield Breach(event.seq, "a screening that nothing made due")
    if index.book.state.held_up:
        for event in index.events:
            if isinstance(event, RoundOpened):
                yield Breach(event.seq, "a round is opened while a screening holds the run up")
                return


def _screenings(
    index: LedgerIndex, expected: Sequence[Event], following: Sequence[Event]
) -> Iterator[Breach]:
    documents = iter(index.events[0].context if isinstance(index.events[0], RunOpened) else ())
    for place, draft in enumerate(expected):
        # The opening's own words may have been replaced in a redacted copy; its screening then differs for a
        # lawful reason.
        is_gone = 0 in index.reworded
        if isinstance(draft, Screening) and draft.of == "context":
            is_gone = index.was_redacted(next(documents).id)
        for breach in compare([draft], following[place : place + 1], 0, "the screening of what was asked"):
            if not is_gone:
                yield breach
                return
            yield breach._replace(message=f"{breach.message}: its words were redacted", severity="warning")
