"""What the events of a ledger must be together, so that they are a run: it is opened first, and its rounds are opened.

`check` asks the rules instead, and names all that is broken.
"""

from __future__ import annotations

from ledger.state.state import State
from ledger.store.failures import StrangeRun


def unopened(state: State) -> str | None:
    """Why nothing can be read of a state, in the words of the rule that it breaks; None when something can."""
    opened = state.opened
    if opened is None:
        return "ORD001: its first event is not run_opened"
    for event in state.rounds_opened:
        if event.plan_row >= len(opened.plan) and opened.origin.type != "import":
            return (
                f"ORD002: event {event.seq} opens row {event.plan_row} of a plan with {len(opened.plan)} rows"
            )
    return None


def strangeness(state: State) -> str | None:
    """Why a state is that of no run that can go on or be shown whole; None when it is one."""
    problem = unopened(state)
    if problem is not None or state.opened is None or state.opened.origin.type == "import":
        return problem
    if state.round and state.round not in state.rounds:
        return f"ORD003: an event stands in round {state.round}, which was never opened"
    return None


def refuse_unopened(state: State, where: object) -> None:
    """Raise `StrangeRun` for a state of which nothing can be read."""
    problem = unopened(state)
    if problem is not None:
        raise StrangeRun(problem, str(where))


def refuse_strange(state: State, where: object) -> None:
    """Raise `StrangeRun` for a state that is that of no run."""
    problem = strangeness(state)
    if problem is not None:
        raise StrangeRun(problem, str(where))
