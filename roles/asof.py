"""When a step opened, and what stood then, whatever has arrived since (FORMAT 5, law 1)."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.events import Event, Fallback
from ledger.state.book import Book, book
from roles.protocol import Protocol, Step, find_group


def at_opening(ledger: Book, protocol: Protocol, step: Step) -> Book:
    """The events up to the last commit of an earlier group of the round, with what the controller added at once.

    A repeated step opens where its first one did.
    """
    done = ledger.state.answered.get(step.id, ledger.state.given_up.get(step.id))
    base = ledger if done is None else book(ledger.events[:done], ledger.blobs)
    group = find_group(protocol, base.state, step.id)
    siblings = {sibling.id for sibling in group.steps} if group else {step.id}
    if step.name.repeat > 1:
        siblings |= _since_the_first(protocol, base, step)
    cut = _opening(base, step.name.round, siblings)
    return base if cut == len(base.events) else book(ledger.events[:cut], ledger.blobs)


def _since_the_first(protocol: Protocol, base: Book, step: Step) -> set[str]:
    """A repeated step opens where its first one did: nothing that came between is shown."""
    first = str(step.name._replace(repeat=1))
    found: set[str] = set()
    for group in protocol.groups(base.state, step.name.round):
        ids = {one.id for one in group.steps}
        if found or first in ids:
            found |= ids
    return found


def _opening(base: Book, round_: int, siblings: set[str]) -> int:
    """How many events there were when a group opened."""
    state = base.state
    opened = state.rounds[round_]
    ends = [opened.seq + opened.rest]
    prefix = f"r{round_}."
    for done in (state.answered, state.given_up):
        ends += [
            seq + base.events[seq].rest
            for step, seq in done.items()
            if step.startswith(prefix) and step not in siblings
        ]
    return behind_owed(base.events, max(ends) + 1)


def behind_owed(events: Sequence[Event], place: int) -> int:
    """The place behind what the controller wrote by itself from `place` on, between two groups."""
    while place < len(events) and _is_owed(events[place]):
        place += 1
    return place


def _is_owed(event: Event) -> bool:
    return event.by == "controller" and event.step is None and not isinstance(event, Fallback)
