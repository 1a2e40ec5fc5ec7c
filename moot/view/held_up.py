"""Rule checks of the present round, and what blocks a run: a screening, or an error that a validation found."""

from __future__ import annotations

from ledger.state.state import State


def rules_asked_told(state: State) -> str:
    """Return after which phases the rules were checked; empty where they are checked only once per round."""
    # Checks run after single phases, and the validation closes the round; both check the rules.
    asked = state.checked.get(state.round, []) + state.validated.get(state.round, [])
    if not state.validates_phases or not asked:
        return ""
    result = "no error" if state.faulty is None else "an error, see `moot check`"
    return f"asked after R{state.round} {', '.join(asked)}: {result}"


def is_held_by_an_error(state: State) -> bool:
    """Return whether an error of the ledger blocks the run, rather than a screening."""
    return state.held_up[:1] == (f"@{state.faulty}",)


def held_up_told(run: str, state: State) -> str:
    """Return what blocks the run and how to go on; empty where nothing does.

    `run` is how commands name the run.
    """
    if not state.held_up:
        return ""
    # One override lets the whole screening through, so the first place is enough.
    place = state.held_up[0]
    if is_held_by_an_error(state):
        return (
            f"by an error that the validation {place} found: `moot check {run}` says which; mend it and resume, or "
            f"`moot override {run} {place} 'why it is harmless'`"
        )
    return (
        f"by the screening {', '.join(state.held_up)} of what was asked: see `moot log {run}`; "
        f"`moot override {run} {place} 'why it is harmless'` lets it through"
    )
