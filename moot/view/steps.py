"""Open steps: each with its brief and the schema of its reply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ledger.events.run import CloseReason
from ledger.language.words import word_count
from ledger.result import Result
from ledger.state.state import EXPERIMENTS, State
from moot.view.text import joined
from moot.view.words import going_on
from roles.protocol import awaited_answers, awaited_experiments, open_steps
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
    """`done`: the run is finished. `waiting_for`: open steps that are not listed because another role was asked for,
    `human` where a screening has to be overridden first, or `experiments` where `moot experiment run` or
    `moot run --resume` has to run them: no step starts a program. `stopped_by`: why the run was stopped, null while it
    goes on; a reply to a listed step, or `moot run --resume`, goes on with it."""

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
        waiting_for=_waiting_for(session, state, listed),
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


def _waiting_for(session: RunSession, state: State, listed: set[str]) -> list[str]:
    if state.held_up:
        return [HELD_UP]
    if awaited_experiments(session.protocol, state):
        return [EXPERIMENTS]
    questions = awaited_answers(session.protocol, state)
    return [*questions, *(step.id for step in open_steps(session.protocol, state) if step.id not in listed)]


RULE = "─" * 78
HELD_UP = "human"


def steps_text(found: Next) -> str:
    """What `moot next` prints: the open steps, one a line, and how to see and to answer one."""
    if closed := _closed(found):
        return closed
    widest = max(len(step.step) for step in found.steps)
    first = found.steps[0].step
    lines = [_stopped(found)] if found.stopped_by else []
    lines.append(
        "1 step is open" if len(found.steps) == 1 else f"{len(found.steps)} steps are open, side by side"
    )
    lines += [
        f"  {step.step:<{widest}}   {step.role} ({step.seat}), {_length(step)}: {_fields(step.schema)}"
        for step in found.steps
    ]
    lines += [
        f"prompt and schema: moot next {found.run} {first}",
        f"hand in a reply:   moot submit {found.run} {first} reply.json",
        f"a person may fill in a form instead: moot next {found.run} {first} --template > form.toml",
        f"and hand that in:  moot submit {found.run} {first} form.toml",
    ]
    return joined(lines)


def step_text(found: Next) -> str:
    """What `moot next RUN STEP` prints: the brief and the schema of one step."""
    return _closed(found) or "".join(_step(step, found.run) for step in found.steps)


def _closed(found: Next) -> str:
    """Why nothing is open; empty when something is."""
    if found.done:
        return f"{found.run} is finished; see `moot decisions {found.run}`\n"
    if found.steps:
        return ""
    if found.stopped_by:
        reason = found.stopped_by.replace("_", " ")
        go_on = going_on(found.run, found.stopped_by)
        return f"the run was stopped ({reason}): nothing is asked any more; `{go_on}` goes on\n"
    if found.waiting_for == [HELD_UP]:
        return f"the run is held up until a person decides: `moot status {found.run}` says by what, and how to go on\n"
    if found.waiting_for == [EXPERIMENTS]:
        return (
            f"the run waits for experiments: `moot experiment run {found.run}` runs them here, in a sandbox\n"
        )
    if found.waiting_for and found.waiting_for[0].startswith("N-"):
        question = found.waiting_for[0]
        return (
            f"the run waits for a person to answer {', '.join(found.waiting_for)}: `moot show {found.run} {question}`,"
            f" then `moot answer {found.run} {question} 'TEXT'`;"
            f" `moot run --resume {found.run} --no-wait` goes on without\n"
        )
    others = f"; others are asked: {', '.join(found.waiting_for)}" if found.waiting_for else ""
    return f"no step is open here now{others}\n"


def _stopped(found: Next) -> str:
    return f"the run was stopped ({(found.stopped_by or '').replace('_', ' ')}); a reply goes on with it"


def _length(step: OpenStep) -> str:
    return f"brief of {word_count(step.brief):,} words"


def _fields(schema: dict[str, Any]) -> str:
    """The fields that a reply has, by name."""
    shape = schema.get("$defs", {}).get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    return ", ".join(shape.get("properties", {}))


def _step(step: OpenStep, run: str) -> str:
    schema = json.dumps(step.schema, ensure_ascii=False, indent=2)
    return (
        f"{RULE}\n{step.step}   role {step.role}, seat {step.seat}\n{RULE}\n"
        f"{step.brief.rstrip()}\n\n"
        f"── schema of the reply to {step.step} (one JSON object, nothing else) ──\n{schema}\n\n"
        f"── hand it in:  moot submit {run} {step.step} reply.json ──\n"
    )
