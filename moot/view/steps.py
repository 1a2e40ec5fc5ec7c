"""Open steps: each with its brief and the schema of its reply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ledger.events.ids import kind_of
from ledger.events.run import CloseReason
from ledger.language.words import word_count
from ledger.result import Result
from ledger.state.state import EXPERIMENTS, State
from moot.view.text import joined
from moot.view.words import going_on, why_closed
from roles.protocol import awaited_answers, awaited_experiments, open_steps
from rounds.run.session import PendingStep, RunSession


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
    """Open steps of a run; `done` when the run is finished.

    `waiting_for`: open steps that are not listed because another role was asked for, `human` where a screening has
    to be overridden first, or `experiments` where `moot experiment run` or `moot run --resume` has to run them: no
    step starts a program. `stopped_by`: why the run was stopped, null while it goes on; a reply to a listed step,
    or `moot run --resume`, goes on with it.
    """

    run: str
    done: bool
    stopped_by: CloseReason | None
    waiting_for: list[str]
    steps: list[OpenStep]


def next_of(run: str, session: RunSession, requests: Sequence[PendingStep]) -> Next:
    """Return the steps in `requests` for machines."""
    seats = {member.role: member.seat for member in session.opened.cast}
    listed = {step.step.id for step in requests}
    state = session.book().state
    return Next(
        run=run,
        done=state.finished,
        stopped_by=state.stopped_by,
        waiting_for=_waiting_for(session, state, listed),
        steps=[
            OpenStep.from_parts(
                request.step,
                request.step.name,
                step=request.step.id,
                seat=seats[request.step.role],
                brief=request.brief.text,
                schema=request.brief.schema,
            )
            for request in requests
        ],
    )


def _waiting_for(session: RunSession, state: State, listed: set[str]) -> list[str]:
    # While a screening blocks the run, no step may be handed out.
    if state.held_up:
        return [HELD_UP]
    if awaited_experiments(session.protocol, state):
        return [EXPERIMENTS]
    questions = awaited_answers(session.protocol, state)
    # Steps of other roles are named, so that a host knows that the run is not stuck.
    return [*questions, *(step.id for step in open_steps(session.protocol, state) if step.id not in listed)]


RULE = "─" * 78
HELD_UP = "human"


def steps_text(listing: Next) -> str:
    """Return what `moot next` prints: the open steps, one per line, and how to view and answer one."""
    if closed := _closed(listing):
        return closed
    widest = max(len(step.step) for step in listing.steps)
    run, first, count = listing.run, listing.steps[0].step, len(listing.steps)
    why = why_closed(listing.stopped_by or "")
    return joined(
        [
            *([f"the run was stopped, as {why}; a reply goes on with it"] if why else ()),
            "1 step is open" if count == 1 else f"{count} steps are open, side by side",
            *(
                f"  {step.step:<{widest}}   {step.role} ({step.seat}),"
                f" brief of {word_count(step.brief):,} words: {_fields(step.schema)}"
                for step in listing.steps
            ),
            f"prompt and schema: moot next {run} {first}",
            f"hand in a reply:   moot submit {run} {first} reply.json",
            f"a person may fill in a form instead: moot next {run} {first} --template > form.toml",
            f"and hand that in:  moot submit {run} {first} form.toml",
        ]
    )


def step_text(listing: Next) -> str:
    """Return what `moot next RUN STEP` prints: the brief and the schema of one step."""
    return _closed(listing) or "".join(_step(step, listing.run) for step in listing.steps)


def _closed(listing: Next) -> str:
    """Return why no step is open; empty when one is."""
    if listing.done:
        return f"{listing.run} is finished; see `moot decisions {listing.run}`\n"
    if listing.steps:
        return ""
    # A stopped run asks nothing, although some of its steps have no reply.
    if listing.stopped_by:
        why, go_on = why_closed(listing.stopped_by), going_on(listing.run, listing.stopped_by)
        return f"the run was stopped, as {why}: nothing is asked any more; `{go_on}` goes on\n"
    if listing.waiting_for == [HELD_UP]:
        status = f"`moot status {listing.run}`"
        return f"the run is held up until a person decides: {status} says by what, and how to go on\n"
    if listing.waiting_for == [EXPERIMENTS]:
        return f"the run waits for experiments: `moot experiment run {listing.run}` runs them here, in a sandbox\n"
    if listing.waiting_for and kind_of(listing.waiting_for[0]) == "concern":
        question = listing.waiting_for[0]
        return (
            f"the run waits for a person to answer {', '.join(listing.waiting_for)}:"
            f" `moot show {listing.run} {question}`,"
            f" then `moot answer {listing.run} {question} 'TEXT'`;"
            f" `moot run --resume {listing.run} --no-wait` goes on without\n"
        )
    others = f"; others are asked: {', '.join(listing.waiting_for)}" if listing.waiting_for else ""
    return f"no step is open here now{others}\n"


def _fields(schema: dict[str, Any]) -> str:
    """Return the names of a reply's fields."""
    # Reply schemas are a reference into their own definitions.
    shape = schema.get("$defs", {}).get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    return ", ".join(shape.get("properties", {}))


def _step(step: OpenStep, run: str) -> str:
    # Seats read this text, and escaped characters cost tokens.
    schema = json.dumps(step.schema, ensure_ascii=False, indent=2)
    return (
        f"{RULE}\n{step.step}   role {step.role}, seat {step.seat}\n{RULE}\n"
        f"{step.brief.rstrip()}\n\n"
        f"── schema of the reply to {step.step} (one JSON object, nothing else) ──\n{schema}\n\n"
        f"── hand it in:  moot submit {run} {step.step} reply.json ──\n"
    )
