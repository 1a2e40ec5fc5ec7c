"""Find the state of the ledger in which a step opened, whatever has arrived since (FORMAT 5, law 1).

A step may be answered as soon as the previous group is complete. It sees the state of that moment, with the events that
the controller added right away. A repeated step judges the same state as the first attempt: it may be answered later,
but sees nothing that came in between. All code that needs this state uses this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import dropwhile
from typing import Final

from ledger.events import Event, Fallback, RoundOpened, RunClosed, RunOpened
from ledger.events.envelope import Status
from ledger.events.ids import StepName, parse_step
from ledger.state.book import Book, commit_end
from ledger.state.lifecycle import Place, place_of_check, status_after
from ledger.state.state import State
from roles.protocol import UNLAWFUL, Protocol, Step, find_group, open_steps


def at_opening(ledger: Book, protocol: Protocol, step: Step) -> Book:
    """Return the book that a step sees: the events up to the end of the previous group, with owed events."""
    done = ledger.state.answered.get(step.id, ledger.state.given_up.get(step.id))
    base = ledger if done is None else ledger.first(done)
    group = find_group(protocol, base.state, step.id)
    siblings = {sibling.id for sibling in group.steps} if group else {step.id}
    if first_attempt(step.name) != step.name:
        # Answers to the first attempt and to groups after it must stay hidden from the repetition.
        siblings |= _since_the_first(protocol, base, step)
    return _once_open(protocol, base, step, _after_earlier_groups(base, step.name.round, siblings))


def _once_open(protocol: Protocol, base: Book, step: Step, place: int) -> Book:
    """Return the first book from `place` on in which the step is open.

    A step may wait for experiments or a person's answer after the previous group; those come before it.
    """
    stood = here = base.first(place)
    first = str(first_attempt(step.name))
    while True:
        open_now = open_or_unlawful(protocol, here.state)
        if open_now is None or any(open_.id == first for open_ in open_now):
            return here
        if len(here.events) == len(base.events):
            # The step was never open, so the ledger breaks the protocol; the rules report that.
            return stood
        here = base.first(after_owed(base.events, commit_end(base.events, len(here.events))))


def first_attempt(name: StepName) -> StepName:
    """Return the first attempt of a repeated step, or the step itself."""
    # In the closing, a second step is no repetition: it rewrites a memo in the light of the reviews of the first.
    return name if name.phase == "S" else name._replace(repeat=1)


def _since_the_first(protocol: Protocol, base: Book, step: Step) -> set[str]:
    """Return the step ids of all groups from that of the first attempt on."""
    first = str(first_attempt(step.name))
    ids = [[member.id for member in group.steps] for group in protocol.groups(base.state, step.name.round)]
    return {identity for group in dropwhile(lambda group: first not in group, ids) for identity in group}


def _after_earlier_groups(base: Book, round_: int, siblings: set[str]) -> int:
    """Return the number of events when the group of `siblings` opened."""
    state, prefix = base.state, f"r{round_}."
    ends = [round_found(state, round_) + 1]
    for done in (state.answered, state.given_up):
        ends += [
            commit_end(base.events, seq)
            for step, seq in done.items()
            if step.startswith(prefix) and step not in siblings
        ]
    return after_owed(base.events, max(ends))


def after_owed(events: Sequence[Event], place: int) -> int:
    """Return the place after the events that the controller wrote on its own from `place` on, between two groups."""
    while (
        place < len(events)
        and events[place].by == "controller"
        and events[place].step is None
        and not isinstance(events[place], Fallback)
    ):
        place += 1
    return place


def round_found(state: State, round_: int) -> int:
    """Return the seq of the last event of the commit that opened a round."""
    opened = state.rounds[round_]
    return opened.seq + opened.rest


def status_at_opening(state: State, claim_id: str, step: Step) -> Status:
    """Return the status of a claim when a step opened."""
    check = int(step.task[-1]) if step.task.startswith("E.check") else 0
    group = place_of_check(0, step.name.phase, check, 0).group
    # Moves compare by their place in the protocol, so those of siblings never count, in whatever order they arrive.
    opening = Place(step.name.round, step.name.phase, group, 0, 0)
    return status_after([move for move in state.claims[claim_id].moves if move.place < opening])


class Openings:
    """Index of when each step of a ledger was open, built event by event; empty without a protocol."""

    def __init__(self, protocol: Protocol | None, opened: RunOpened | None) -> None:
        self._protocol = protocol
        self._rows: Final = len(opened.plan) if opened is not None else 0
        self._open: tuple[Step, ...] = ()
        self.of: Final = dict[str, int]()
        """Step id → seq of the last event before it could be answered."""
        self.left: Final = dict[int, tuple[str, ...]]()
        """Seq of a `round_opened` or final `run_closed` → steps that were still open then."""
        self.known_through = -1
        """Seq through which `of` is complete: the ledger's end, unless rounds leave the plan."""
        self.lost_at: int | None = None
        """Seq of the event after which the protocol could no longer tell which steps are open."""

    def before(self, event: Event, state: State) -> None:
        """Process an event before `state` takes it in."""
        finishes = isinstance(event, RunClosed) and event.state == "finished"
        if self._protocol is not None and (finishes or isinstance(event, RoundOpened)):
            left = open_or_unlawful(self._protocol, state)
            self.left[event.seq] = tuple(step.id for step in left or ())

    def after(self, event: Event, state: State) -> None:
        """Process an event after `state` took it in."""
        if self._protocol is None or not self._is_on_plan(event):
            self._protocol = None
            return
        self.known_through = event.seq
        if event.rest or (event.step and any(not state.is_done(step.id) for step in self._open)):
            # A commit changes the open steps only when it is complete and completes its group.
            return
        open_now = open_or_unlawful(self._protocol, state)
        if open_now is None:
            self._protocol, self.lost_at = None, event.seq
        self._open = open_now or ()
        for step in self._open:
            self.of.setdefault(step.id, event.seq)

    def _is_on_plan(self, event: Event) -> bool:
        """Return whether the open steps are still known after `event`."""
        match event:
            # A second opening is only lawful in a fork, and a row outside of the plan has unknown groups.
            case RunOpened():
                return event.seq == 0 or event.origin.type == "fork"
            case RoundOpened():
                return event.plan_row < self._rows
            case _:
                return True


def stands_for(openings: Mapping[str, int], step_id: str) -> int | None:
    """Return the seq of the last event that a step sees; None when it is not known to have opened."""
    name = parse_step(step_id)
    return openings.get(step_id if name is None else str(first_attempt(name)))


def open_or_unlawful(protocol: Protocol, state: State) -> tuple[Step, ...] | None:
    """Return the open steps; None when the ledger breaks the assumptions of the protocol."""
    try:
        return open_steps(protocol, state)
    except UNLAWFUL:
        return None
