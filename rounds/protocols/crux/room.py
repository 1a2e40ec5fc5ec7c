"""Room: whether another round of tests fits under the cap of replies and into the budget of calls."""

from __future__ import annotations

from typing import Final

from detectors.beliefs.parameters import crux_parameters
from ledger.state.state import State

ROUND_AT_MOST: Final = 13
"""Replies that a round of tests can ask for: four plans, four forecasts, a check, four updates."""


def no_room(state: State, round_: int) -> bool:
    """Whether another round of tests might not fit under the cap of replies."""
    return _with_another(state, round_) > crux_parameters().stop.replies_at_most


def no_budget(state: State, round_: int) -> bool:
    """Whether the budget of calls might not last for another round of tests and the close."""
    calls = state.limits.calls
    return calls is not None and _with_another(state, round_) > calls


def _with_another(state: State, round_: int) -> int:
    """The replies of the rounds so far, of another one at most, and of the close."""
    so_far = sum(
        int(step[1:].partition(".")[0]) <= round_ and ".S." not in step
        for step in (*state.answered, *state.given_up)
    )
    return so_far + ROUND_AT_MOST + crux_parameters().stop.replies_of_the_close
