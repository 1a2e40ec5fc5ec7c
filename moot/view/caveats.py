"""What every verdict is read with: what was waived, how many really answered, who could read more than the brief."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ledger.events import Event
from ledger.state.fold import step
from ledger.state.state import State
from moot.view.families import Answered, one_family
from moot.view.output.outcome import headline
from moot.view.words import CLOSINGS
from rounds.run.outcome import outcome_of


class Calls(msgspec.Struct):
    """How the replies of a run came about."""

    enforced: int = 0
    trusted: int = 0
    continued: int = 0
    recorded: int = 0
    answered: set[Answered] = msgspec.field(default_factory=set[Answered])

    def add(self, event: Event) -> None:
        """Count an event's call, if it has one."""
        call = event.call
        if call is None:
            return
        self.enforced += call.isolation == "enforced"
        self.trusted += call.isolation == "trusted"
        self.continued += call.context.mode == "continued"
        self.recorded += call.simulated == "recorded"
        self.answered.add(Answered(event.by, call.seat, call.provider, call.model))

    @property
    def all(self) -> int:
        """All replies."""
        return self.enforced + self.trusted


def tally(events: Iterable[Event]) -> tuple[State, Calls]:
    """The state after `events`, and how their replies came about, in one pass."""
    state, calls = State(), Calls()
    for event in events:
        step(state, event)
        calls.add(event)
    return state, calls


def calls_of(events: Iterable[Event]) -> Calls:
    """How the replies of a run came about, for those who have its state already."""
    calls = Calls()
    for event in events:
        calls.add(event)
    return calls


def caveats(state: State, calls: Calls) -> list[str]:
    """Lines to print before a verdict: declared and actual quorum, then what was waived (FORMAT 9, DESIGN 4)."""
    opened, first = state.opened, headline(outcome_of(state))
    lines = [first] if first else []
    if state.stopped_by is not None:
        lines.append(f"STOPPED: {CLOSINGS.get(state.stopped_by, state.stopped_by)}")
    lines += [f"WAIVED {waiver.what}: {waiver.why}" for waiver in opened.waived] if opened else []
    if calls.all:
        counts = {
            "enforced": calls.enforced,
            "trusted": calls.trusted,
            "in a continued context": calls.continued,
            "recorded": calls.recorded,
        }
        said = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
        lines.append(f"isolation of {calls.all} {'reply' if calls.all == 1 else 'replies'}: {said}")
    alike = one_family(calls.answered)
    return [*lines, f"WARNING: {alike}"] if alike else lines
