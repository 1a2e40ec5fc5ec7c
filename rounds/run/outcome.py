"""Quorum: how many of the replies that a run asked for it really rests on, and whether what decides was answered.

One computation, from the folded state and the table of losses alone: the end of `run` and `submit`, `status`,
`decisions`, the reports, the page and the exit code all read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ledger.events.ids import parse_step
from ledger.plain_text import some
from ledger.result import Result
from ledger.state.book import grouped
from ledger.state.state import State
from roles.protocol import Instead, Loss, loss_of

Kind = Literal["whole", "degraded", "unanswered", "imported"]
LOST_SHOWN = 6


class LostStep(Result, frozen=True):
    """A step that was given up. `means`: what the run does without it; `decides`: the outcome was this step's."""

    step: str
    role: str
    instead: Instead
    means: str
    decides: bool


class RunQuorum(Result, frozen=True):
    """`declared` steps were asked and settled, `actual` answered by a seat; `told` says it in words.

    `kind`: whole (none was lost so far), degraded (some were), unanswered (the run is finished, and what decides has no
    reply), imported (another system asked).
    """

    declared: int
    actual: int
    kind: Kind
    told: str
    lost: list[LostStep]

    @property
    def headline(self) -> str:
        """Return the line to print before any verdict; empty before the first step, and for imports."""
        if self.kind in ("degraded", "unanswered"):
            return f"{self.kind.upper()}: {self.told}"
        # Before the first step a quorum of 0 of 0 would look like a failure.
        return f"quorum: {self.told}" if self.kind == "whole" and self.declared else ""


def quorum_of(state: State) -> RunQuorum:
    """Return what a run rests on so far; whether it decided anything is known of a finished run only."""
    quorum = state.quorum
    kind: Kind = "whole"
    lost: list[LostStep] = []
    if state.is_import:
        kind = "imported"
    # Without a lost reply nothing needs the table of losses; a run that asked for none counts below.
    elif quorum.actual != quorum.declared or not quorum.declared:
        from rounds.protocols import PROTOCOLS  # only a run that lost something pays for it

        # A protocol that is not installed has no table of losses; its lost steps are shown without a meaning.
        named = state.opening.protocol
        losses: Mapping[str, Loss] = PROTOCOLS[named].losses if named in PROTOCOLS else {}
        lost = [_lost(state, step, losses) for step in state.given_up]
        decided = any(_lost(state, step, losses).decides for step in state.answered)
        kind = "unanswered" if state.finished and not decided else "degraded" if lost else "whole"
    answered = quorum.text if quorum.declared else "no step was answered yet"
    undecided = "; no reply answered what decides" if kind == "unanswered" else ""
    return RunQuorum(quorum.declared, quorum.actual, kind, f"{answered}{undecided}{_given_up(lost)}", lost)


def _given_up(lost: Sequence[LostStep]) -> str:
    """Return lost steps by what their loss means, the deciding ones first."""
    # Sorting is stable, so steps of one meaning stay in the order in which they were lost.
    steps = grouped((loss.means, loss.step) for loss in sorted(lost, key=lambda loss: not loss.decides))
    groups = [f"{some(named, LOST_SHOWN)} ({means})" for means, named in steps.items()]
    return f"; given up: {some(groups, LOST_SHOWN, '; ')}" if groups else ""


def _lost(state: State, step: str, losses: Mapping[str, Loss]) -> LostStep:
    name = parse_step(step)
    if name is None or not losses:
        return LostStep(step, "", "skipped", "nothing stands in for it", False)
    loss = loss_of(losses, name)
    decides = loss.decides(state) if callable(loss.decides) else loss.decides
    return LostStep(step, name.role, loss.instead, loss.means, decides)
