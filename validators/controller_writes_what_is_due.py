"""FLW002, error: in a short protocol the controller writes what the protocol says is due, when it is due, and no more.

Rulings, decisions by rule, and what stands in for a lost reply follow from the ledger alone; one that was edited,
added or left out would pass for the rule's own. Source: FORMAT 8, AD-8, S4-14, XS-9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ledger.book import Book
from ledger.events import Event, Fallback, RoundOpened, RunClosed, Validation
from roles.protocol import Protocol, Step, find_group, loss_of
from validators.event_follows_from_its_reply import compare
from validators.reading.docket import Docket
from validators.reading.moments import commits
from validators.reading.rule import Breach, Rule

_BETWEEN: Final = frozenset(
    {"run_opened", "round_opened", "validation", "signals", "alarm", "amendment", "screening"}
)
"""What the controller writes in every protocol; rules of their own look at it."""


def check(docket: Docket) -> Iterator[Breach]:
    """Commits of the controller that are not what is due, and what is due and was not written."""
    protocol = docket.context.protocol
    if protocol is None or protocol.is_watched:
        return
    for events, book in commits(docket):
        first = events[0]
        if isinstance(first, Fallback):
            yield from _stand_ins(protocol, book, first, events)
        elif isinstance(first, Validation | RoundOpened) or _finishes(first):
            yield from _forgotten(protocol, book, first)
        elif first.by == "controller" and first.kind not in _BETWEEN and not isinstance(first, RunClosed):
            yield from compare(protocol.owed(book), events, first.seq, "the rule")
            yield from _surplus(len(protocol.owed(book)), events)


def _finishes(event: Event) -> bool:
    return isinstance(event, RunClosed) and event.state == "finished"


def _forgotten(protocol: Protocol, book: Book, event: Event) -> Iterator[Breach]:
    if book.state.opened is not None and book.state.round in book.state.rounds:
        for owed in protocol.owed(book):
            yield Breach(event.seq, f"{owed.kind} {owed.id or ''} was due before this and is not there")


def _stand_ins(protocol: Protocol, book: Book, lost: Fallback, events: Sequence[Event]) -> Iterator[Breach]:
    step = _step(protocol, book, lost.step_failed)
    if step is None:
        return
    instead, drafts = loss_of(protocol.losses, step.name).instead, protocol.give_up(book, step)
    if lost.instead != instead:
        yield Breach(lost.seq, f"instead is {lost.instead}; {step.id} has {instead}")
    yield from compare(drafts, events[1 : 1 + len(drafts)], lost.seq, step.id)


def _step(protocol: Protocol, book: Book, step_id: str) -> Step | None:
    group = find_group(protocol, book.state, step_id)
    return next((step for step in group.steps if step.id == step_id), None) if group else None


def _surplus(due: int, events: Sequence[Event]) -> Iterator[Breach]:
    for event in events[due:]:
        yield Breach(event.seq, f"a {event.kind} that nothing made due")


RULE: Final = Rule(
    code="FLW002",
    name="controller_writes_what_is_due",
    severity="error",
    summary="In a short protocol the controller writes what is due, when it is due, and no more.",
    check=check,
    applies_to_imports=False,
    recorded=False,
)
