"""Quorum of a run: declared and actual steps, and lost replies."""

from __future__ import annotations

from ledger.result import Result
from ledger.state.state import State
from moot.errors import GOOD, SEAT_FAILED
from rounds.run.outcome import Kind, RunOutcome, outcome_of


class LostLine(Result, frozen=True):
    """A step that was given up. `means`: what the run does without it; `decides`: the outcome was this step's."""

    step: str
    role: str
    instead: str
    means: str
    decides: bool


class RunQuorum(Result, frozen=True):
    """`declared` steps were asked and settled, `actual` answered by a seat; `told` says it in words.

    `kind`: whole (none was lost so far), degraded (some were), unanswered (the run is finished, and nobody answered
    what decides), imported (another system asked).
    """

    declared: int
    actual: int
    kind: Kind
    told: str
    lost: list[LostLine]


def quorum_told(state: State) -> RunQuorum:
    """Return the quorum of a run, for machines."""
    outcome = outcome_of(state)
    return RunQuorum(
        declared=outcome.declared,
        actual=outcome.actual,
        kind=outcome.kind,
        told=outcome.told,
        lost=[LostLine(**step._asdict()) for step in outcome.lost],
    )


def headline(outcome: RunOutcome | RunQuorum) -> str:
    """Return the line to print before any verdict; empty before the first step, and for imports."""
    match outcome.kind:
        case "degraded":
            return f"DEGRADED: {outcome.told}"
        case "unanswered":
            return f"UNANSWERED: {outcome.told}"
        # Before the first step a quorum of 0 of 0 would look like a failure.
        case "whole":
            return f"quorum: {outcome.told}" if outcome.declared else ""
        case "imported":
            return ""


def finished_exit(outcome: RunQuorum) -> int:
    """Return the exit code of a finished run (FORMAT 13): 5 when fewer steps were answered than declared."""
    # Scripts rely on this code to notice that a finished run had lost seats.
    return GOOD if outcome.kind in ("whole", "imported") else SEAT_FAILED
