"""Outcome: how many of the replies that a run asked for it really rests on, and whether what decides was answered.

One computation, from the folded state and the table of losses alone: the end of `run` and `submit`, `status`,
`decisions`, the reports, the page and the exit code all read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from ledger.events.ids import parse_step
from ledger.state.state import State
from roles.protocol import Instead, Loss, loss_of

Kind = Literal["whole", "degraded", "unanswered", "imported"]
LOST_SHOWN = 6


class LostStep(NamedTuple):
    """A step that was given up, what the run did instead, and what that means; `decides`: it gives the outcome."""

    step: str
    role: str
    instead: Instead
    means: str
    decides: bool


class RunOutcome(NamedTuple):
    """Quorum of a run: `declared` steps were asked and settled, `actual` of them answered by a seat.

    whole: none was lost so far. degraded: some were. unanswered: the run is finished, and no step that decides was
    answered. imported: another system asked.
    """

    kind: Kind
    declared: int
    actual: int
    lost: tuple[LostStep, ...]

    @property
    def counted(self) -> str:
        """Return declared and actual quorum in words, as every account of a run begins."""
        if not self.declared:
            return "no step was answered yet"
        return f"{self.actual} of {self.declared} steps were answered"

    @property
    def told(self) -> str:
        """Return the quorum in words, whether anything was decided, and what was lost."""
        undecided = (
            "; nobody answered what decides, so nothing is decided" if self.kind == "unanswered" else ""
        )
        return f"{self.counted}{undecided}{self._given_up()}"

    def _given_up(self) -> str:
        """Return lost steps by what their loss means, the deciding ones first."""
        steps: dict[str, list[str]] = {}
        # Sorting is stable, so steps of one meaning stay in the order in which they were lost.
        for loss in sorted(self.lost, key=lambda loss: not loss.decides):
            steps.setdefault(loss.means, []).append(loss.step)
        groups = [f"{_some(named)} ({means})" for means, named in steps.items()]
        return f"; given up: {_some(groups, '; ')}" if groups else ""


def outcome_of(state: State) -> RunOutcome:
    """Return what a run rests on so far; whether it decided anything is known of a finished run only."""
    quorum = state.quorum
    opened = state.opened
    if opened is not None and opened.origin.type == "import":
        return RunOutcome("imported", quorum.declared, quorum.actual, ())
    # Without a lost reply nothing needs the table of losses; a run that asked for none counts below.
    if opened is None or (quorum.actual == quorum.declared and quorum.declared):
        return RunOutcome("whole", quorum.declared, quorum.actual, ())
    from rounds.protocols.losses import LOSSES  # only a run that lost something pays for it

    # A protocol that is not installed has no table of losses; its lost steps are shown without a meaning.
    losses = LOSSES.get(opened.protocol, {})
    lost = tuple(_lost(step, losses) for step in state.given_up)
    decided = any(_lost(step, losses).decides for step in state.answered)
    if state.finished and not decided:
        return RunOutcome("unanswered", quorum.declared, quorum.actual, lost)
    return RunOutcome("degraded" if lost else "whole", quorum.declared, quorum.actual, lost)


def _lost(step: str, losses: Mapping[str, Loss]) -> LostStep:
    name = parse_step(step)
    if name is None or not losses:
        return LostStep(step, "", "skipped", "nothing stands in for it", False)
    loss = loss_of(losses, name)
    return LostStep(step, name.role, loss.instead, loss.means, loss.decides)


def _some(words: list[str], joint: str = ", ") -> str:
    """Return as many words as a line holds, and how many more there are."""
    more = f" and {len(words) - LOST_SHOWN} more" if len(words) > LOST_SHOWN else ""
    return joint.join(words[:LOST_SHOWN]) + more
