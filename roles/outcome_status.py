"""Outcome status: the closed list of outcomes of a run, shared by all protocols."""

from __future__ import annotations

from enum import StrEnum


class OutcomeStatus(StrEnum):
    """Status of an outcome, in the order of precedence: an earlier one hides every later one."""

    RUNNING = "running"
    """Steps are still to be answered."""
    WAITING = "waiting"
    """A person's answer is awaited."""
    STOPPED = "stopped"
    """The run ended before its plan did: a budget, or a person."""
    NOBODY_ANSWERED = "nobody_answered"
    """Every reply that decides was lost."""
    ILL_POSED = "ill_posed"
    """The question cannot be answered as it stands."""
    RUN_THIS_FIRST = "run_this_first"
    """An open test could change the answer."""
    YOUR_CALL = "your_call"
    """The answers are too close, split, or undetermined: a person weighs."""
    DECIDED = "decided"
    """The run has an answer."""

    def at_most(self, limit: OutcomeStatus) -> OutcomeStatus:
        """Return this status, or `limit` where this one claims more."""
        order = list(OutcomeStatus)
        return min(self, limit, key=order.index)
