"""Why a run was stopped, in a clause with numbers: a driver's note, or the limit without room."""

from __future__ import annotations

from ledger.events.run import CloseReason
from ledger.plain_text import one_line
from ledger.state.amending import STOP_PATH
from ledger.state.state import State
from moot.view.words import why_closed


def why_stopped(state: State) -> str:
    """Return why a stopped run stopped, with what the driver noted and what was spent of the limit that binds."""
    reason = state.stopped_by
    if reason is None:
        return ""
    return "; ".join(part for part in (why_closed(reason), _spent_of(state, reason), _noted(state)) if part)


def _noted(state: State) -> str:
    """Return what the driver noted when it stopped the run; empty where it noted nothing."""
    # Notes before the last closing belong to an earlier stop of a run that went on since.
    stopped = 0 if state.closing is None else state.closing.seq
    notes = [
        note.reason
        for note in state.amendments
        if note.seq > stopped and any(change.path == STOP_PATH for change in note.change)
    ]
    return one_line(notes[-1]).rstrip(".") if notes else ""


def _spent_of(state: State, reason: CloseReason) -> str:
    """Return what the ledger shows of the limit that stopped the run: `$0.12 of $0.15 spent`."""
    limits, spend = state.limits, state.spend
    # The ledger has no clock of the driver, so minutes have no figure here.
    match reason:
        case "budget_usd" if limits.usd is not None:
            return f"${spend.micro_usd / 1_000_000:.2f} of ${float(limits.usd):.2f} spent"
        case "budget_tokens" if limits.tokens is not None:
            return f"{spend.tokens_in + spend.tokens_out:,} of {limits.tokens:,} tokens used"
        case "budget_calls" if limits.calls is not None:
            return f"{spend.engine_calls:,} of {limits.calls:,} calls made"
        case _:
            return ""
