"""Open steps: each with its brief and the schema of its reply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ledger.events.decisions import CloseReason
from ledger.result import Result
from moot.view.words import going_on
from roles.protocol import open_steps
from rounds.run.session import AskedStep, RunSession


class OpenStep(Result, frozen=True):
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


class Next(Result, frozen=True):
    """`done`: the run is finished. `waiting_for`: open steps that are not listed because another role was asked for, or
    `human` where a screening has to be overridden first. `stopped_by`: why the run was stopped, null while it goes on;
    a reply to a listed step, or `moot run --resume`, goes on with it."""

    run: str
    done: bool
    stopped_by: CloseReason | None
    waiting_for: list[str]
    steps: list[OpenStep]


def next_of(run: str, session: RunSession, asked: Sequence[AskedStep]) -> Next:
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


RULE = "─" * 78


def steps_text(found: Next) -> str:
    """What `moot next` prints."""
    if found.done:
        return f"{found.run} is finished; see `moot decisions {found.run}`\n"
    stopped = f"the run was stopped ({found.stopped_by.replace('_', ' ')})" if found.stopped_by else ""
    if stopped and not found.steps:
        return f"{stopped}: nothing is asked any more; `{going_on(found.run, found.stopped_by)}` goes on\n"
    if not found.steps:
        others = f"; others are asked: {', '.join(found.waiting_for)}" if found.waiting_for else ""
        return f"no step is open here now{others}\n"
    parts = [f"{stopped}; a reply goes on with it\n"] if stopped else []
    parts += [_step(step, found.run) for step in found.steps]
    return "\n".join(parts)


def _step(step: OpenStep, run: str) -> str:
    schema = json.dumps(step.schema, ensure_ascii=False, indent=2)
    return (
        f"{RULE}\n{step.step}   role {step.role}, seat {step.seat}\n{RULE}\n"
        f"{step.brief.rstrip()}\n\n"
        f"── schema of the reply to {step.step} (one JSON object, nothing else) ──\n{schema}\n\n"
        f"── hand it in:  moot submit {run} {step.step} reply.json ──\n"
    )
