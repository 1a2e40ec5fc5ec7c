"""`moot next --json`: the steps that can run now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ledger.events.decisions import CloseReason
from moot.view.output.base import Output
from roles.protocol import open_steps
from rounds.run.session import Asked, RunSession


class OpenStep(Output, frozen=True):
    """A step with the exact text for its seat and the JSON Schema that the reply must satisfy.

    `seat` is the kind that the opening gave the role.
    """

    step: str
    role: str
    phase: str
    round: int
    seat: str
    brief: str
    schema: dict[str, Any]


class Next(Output, frozen=True):
    """`done`: the run is finished. `waiting_for`: open steps that are not listed because another role was asked for, or
    `human` where a screening has to be overridden first. `stopped_by`: why the run was stopped, null while it goes on;
    a reply to a listed step, or `moot run --resume`, goes on with it."""

    run: str
    done: bool
    stopped_by: CloseReason | None
    waiting_for: list[str]
    steps: list[OpenStep]


def next_of(run: str, session: RunSession, asked: Sequence[Asked]) -> Next:
    """`asked` for machines."""
    seats = {member.role: member.seat for member in session.opened.cast}
    listed = {one.step.id for one in asked}
    state = session.book().state
    return Next(
        run=run,
        done=state.finished,
        stopped_by=state.stopped_by,
        waiting_for=["human"]
        if state.held_up
        else [step.id for step in open_steps(session.protocol, state) if step.id not in listed],
        steps=[
            OpenStep(
                step=one.step.id,
                role=one.step.role,
                phase=one.step.name.phase,
                round=one.step.name.round,
                seat=seats[one.step.role],
                brief=one.brief.text,
                schema=dict(one.brief.schema),
            )
            for one in asked
        ],
    )
