"""When a step opened, and what stood then, whatever has arrived since (FORMAT 5, law 1): the only walk.

A step may be answered from the commit on that completed the group before it. What stands for it is what stood then,
with what the controller added at once. A repeated step judges a second time what the first attempt judged: it may be
answered later, and yet nothing that came between stands for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ledger.events import Event, Fallback, RoundOpened, RunClosed, RunOpened
from ledger.events.ids import StepName, parse_step
from ledger.events.values import Status
from ledger.state.book import Book, commit_end
from ledger.state.lifecycle import Place, place_of_check, status_after
from ledger.state.state import State
from roles.protocol import UNLAWFUL, Protocol, Step, find_group, open_steps


def at_opening(ledger: Book, protocol: Protocol, step: Step) -> Book:
    """What stood for a step: the events up to the last commit of an earlier group of its round, and what was owed."""
    done = ledger.state.answered.get(step.id, ledger.state.given_up.get(step.id))
    base = ledger if done is None else ledger.first(done)
    group = find_group(protocol, base.state, step.id)
    siblings = {sibling.id for sibling in group.steps} if group else {step.id}
    if first_attempt(step.name) != step.name:
        siblings |= _since_the_first(protocol, base, step)
    return _once_open(protocol, base, step, _behind_earlier_groups(base, step.name.round, siblings))


def _once_open(protocol: Protocol, base: Book, step: Step, place: int) -> Book:
    """The first book from `place` on in which the step is open: what it waited for, such as experiments or a person's
    answer, came before it, whatever else a person did meanwhile."""
    stood = here = base.first(place)
    first = str(first_attempt(step.name))
    while True:
        asked = open_or_unlawful(protocol, here.state)
        if asked is None or any(one.id == first for one in asked):
            return here
        if len(here.events) == len(base.events):
            return stood  # it never was: an unlawful ledger
        here = base.first(behind_owed(base.events, commit_end(base.events, len(here.events))))


def first_attempt(name: StepName) -> StepName:
    """The step that a repeated one repeats, any other one itself: both see the same.

    In the closing a second step repeats nothing: a memo is rewritten because of what was said of the first one.
    """
    return name if name.phase == "S" else name._replace(repeat=1)


def _since_the_first(protocol: Protocol, base: Book, step: Step) -> set[str]:
    """The steps of all groups from the first attempt's on."""
    first = str(first_attempt(step.name))
    found: set[str] = set()
    for group in protocol.groups(base.state, step.name.round):
        ids = {one.id for one in group.steps}
        if found or first in ids:
            found |= ids
    return found


def _behind_earlier_groups(base: Book, round_: int, siblings: set[str]) -> int:
    """How many events there were when the group of `siblings` opened."""
    state, prefix = base.state, f"r{round_}."
    ends = [round_found(state, round_) + 1]
    for done in (state.answered, state.given_up):
        ends += [
            commit_end(base.events, seq)
            for step, seq in done.items()
            if step.startswith(prefix) and step not in siblings
        ]
    return behind_owed(base.events, max(ends))


def behind_owed(events: Sequence[Event], place: int) -> int:
    """The place behind what the controller wrote by itself from `place` on, between two groups."""
    while place < len(events) and _is_owed(events[place]):
        place += 1
    return place


def _is_owed(event: Event) -> bool:
    return event.by == "controller" and event.step is None and not isinstance(event, Fallback)


def round_found(state: State, round_: int) -> int:
    """The last event that a round found: the end of the commit that opened it."""
    opened = state.rounds[round_]
    return opened.seq + opened.rest


def status_at_opening(state: State, claim_id: str, step: Step) -> Status:
    """A claim's status for a step: by place, so that moves of siblings do not count in whatever order they arrive."""
    check = int(step.task[-1]) if step.task.startswith("E.check") else 0
    group = place_of_check(0, step.name.phase, check, 0).group
    opening = Place(step.name.round, step.name.phase, group, 0, 0)
    return status_after([move for move in state.claims[claim_id].moves if move.place < opening])


class Openings:
    """Which steps of a ledger were open when, told event by event. Without a protocol nothing is known of any."""

    def __init__(self, protocol: Protocol | None, opened: RunOpened | None) -> None:
        self._protocol = protocol
        self._rows: Final = len(opened.plan) if opened is not None else 0
        self._asked: tuple[Step, ...] = ()
        self.of: Final = dict[str, int]()
        """Step id → seq of the last event before it could be answered."""
        self.left: Final = dict[int, tuple[str, ...]]()
        """Seq of a `round_opened` or finishing `run_closed` → steps that were still open then."""
        self.known_through = -1
        """Seq through which `of` is complete: the ledger's end, unless rounds leave the plan."""
        self.lost_at: int | None = None
        """Seq of the event after which the protocol could not say any more which steps are open."""

    def before(self, event: Event, state: State) -> None:
        """Look at an event that `state` has not taken in yet."""
        if self._protocol is not None and _ends_something(event):
            left = open_or_unlawful(self._protocol, state)
            self.left[event.seq] = tuple(step.id for step in left or ())

    def behind(self, event: Event, state: State) -> None:
        """Look at what `state` has just taken in."""
        if self._protocol is None or not self._is_on_plan(event):
            self._protocol = None
            return
        self.known_through = event.seq
        if event.rest or (event.step and any(not state.is_done(step.id) for step in self._asked)):
            return  # a step's events open others when its group is done
        asked = open_or_unlawful(self._protocol, state)
        if asked is None:
            self._protocol, self.lost_at = None, event.seq
        self._asked = asked or ()
        for step in self._asked:
            self.of.setdefault(step.id, event.seq)

    def _is_on_plan(self, event: Event) -> bool:
        """Whether the steps of the run can still be known after `event`."""
        match event:
            case RunOpened():
                return event.seq == 0 or event.origin.type == "fork"
            case RoundOpened():
                return event.plan_row < self._rows
            case _:
                return True


def stands_for(openings: Mapping[str, int], step_id: str) -> int | None:
    """Seq of the last event that stands for a step; None when it is not known to have opened."""
    name = parse_step(step_id)
    return openings.get(step_id if name is None else str(first_attempt(name)))


def open_or_unlawful(protocol: Protocol, state: State) -> tuple[Step, ...] | None:
    """The steps that are open; None where the ledger breaks what the protocol reckons with."""
    try:
        return open_steps(protocol, state)
    except UNLAWFUL:
        return None


def _ends_something(event: Event) -> bool:
    return isinstance(event, RoundOpened) or (isinstance(event, RunClosed) and event.state == "finished")
