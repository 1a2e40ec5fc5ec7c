"""The engine: one reply in, one commit out; the same two functions serve every way of running a protocol (DESIGN 4).

Everything here is a pure function of the book. Files are the store's, seats are `roles/seats/`, the loop that joins
them is `rounds/run/driver.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from ledger.events import Attempt, Call, Context, Event
from ledger.events.ids import parse_step
from ledger.state.book import Book
from ledger.store.blobs import hash_of
from roles.brief import Brief, derive
from roles.execution import answered, parsed
from roles.prompt_set import PromptSet
from roles.protocol import Protocol, Step, find_group, open_step
from roles.seats.port import Answer, Used

SEE_NEXT: Final = "see `moot next` for the open steps"
REPORTED: Final = ("stop_reason", "tokens_in", "tokens_out", "cost_usd", "latency_ms")
"""Fields of an attempt that its seat reports."""


class StepRefused(Exception):
    """A step that cannot take a reply now; `why` says it in one clause, `fix` what to do instead."""

    def __init__(self, step: str, why: str, fix: str) -> None:
        self.what = f"{step}: {why}"
        super().__init__(self.what)
        self.step, self.why, self.fix = step, why, fix


class ReplyRefused(Exception):
    """A reply that breaks its schema or cites what it may not; nothing was written."""

    def __init__(self, step: str, errors: Sequence[str]) -> None:
        super().__init__(f"{step}: {errors[0]}" if errors else step)
        self.step, self.errors = step, tuple(errors)


class Accepted(msgspec.Struct, frozen=True):
    """The commit of an accepted reply, and the blobs it refers to."""

    events: tuple[Event, ...]
    blobs: Mapping[str, bytes] = msgspec.field(default_factory=dict[str, bytes])


def find_open(protocol: Protocol, book: Book, step_id: str) -> Step:
    """Return the open step with that id; raises `StepRefused` with the reason when there is none."""
    step = open_step(protocol, book.state, step_id)
    if step is None:
        raise _refusal(book, step_id)
    return step


def _refusal(book: Book, step_id: str) -> StepRefused:
    # The checks go from the most specific reason to the least, so that the message names the real cause.
    state = book.state
    name = parse_step(step_id)
    if name is None:
        return StepRefused(step_id, "that is no step id", "step ids look like r3.D.critic; see `moot next`")
    for applies, why in (
        (step_id in state.answered, "already answered with another reply"),
        (step_id in state.given_up, "given up before"),
    ):
        if applies:
            return StepRefused(step_id, why, SEE_NEXT)
    if state.finished:
        return StepRefused(step_id, "the run is finished", "see `moot status`")
    if name.role not in state.roles:
        roles = f"roles are {', '.join(state.roles)}"
        return StepRefused(step_id, f"no role {name.role!r} in this run", roles)
    why = f"round {name.round} is over" if name.round < state.round else "not open"
    return StepRefused(step_id, why, SEE_NEXT)


def accept(
    protocol: Protocol, book: Book, step: Step, content: bytes, answer: Answer, prompt_set: PromptSet
) -> Accepted:
    """Return the commit that an open step's reply makes.

    Raises `ReplyRefused` with every error found; a book and a reply always give the same commit.
    """
    reply, errors = parsed(protocol, book, step, content)
    if reply is None:
        raise ReplyRefused(step.id, errors)
    # The prompt is derived again rather than taken from the seat: what a reply may cite depends on it alone.
    brief = derive(book, protocol, step, prompt_set)
    problems = protocol.problems(book, step, reply, frozenset(brief.saw))
    if problems:
        raise ReplyRefused(step.id, problems)
    # Checked last, after the reply itself: an error in the reply is what its author can fix.
    _check_side_by_side(protocol, book, step, answer.context_id)
    call = _call(book, step, brief, content, answer)
    events = answered(protocol, book, step, reply, call, brief.saw)
    return Accepted(events, {**brief.blobs(), **protocol.brought(reply), call.reply: content})


def _call(book: Book, step: Step, brief: Brief, content: bytes, answer: Answer) -> Call:
    reported = {name: getattr(answer, name) for name in Call.__struct_fields__ if hasattr(answer, name)}
    ours = {
        "context": context_of(book, step, answer.context_id),
        "prompt_set": book.state.opening.prompt_set,
        "brief": brief.sha256,
        "reply": hash_of(content),
        # A reply handed in by hand comes without attempts, and the format wants at least one.
        "attempts": answer.attempts or (attempt_row(1, brief, content, answer),),
    }
    return Call(**reported | ours)


def attempt_row(n: int, brief: Brief, content: bytes | None, used: Used, error: str | None = None) -> Attempt:
    """Return the record of an attempt: without an error the accepted one, with an error one to be repeated."""
    return Attempt(
        n=n,
        brief=brief.sha256,
        reply=None if content is None else hash_of(content),
        # Error messages of vendors can quote a whole request, and this becomes part of a ledger line.
        error=error[:2_000] if error else None,
        **{name: getattr(used, name, None) for name in REPORTED},
    )


def _check_side_by_side(protocol: Protocol, book: Book, step: Step, context_id: str | None) -> None:
    """Raise `StepRefused` where one context answers a step that several contexts are meant to answer side by side."""
    group = find_group(protocol, book.state, step.id)
    for other in group.steps if group is not None and context_id is not None else ():
        at = book.state.answered.get(other.id)
        # Only repeats of the same step count; one context may well answer other steps of its group.
        if at is None or other.name._replace(repeat=step.name.repeat) != step.name:
            continue
        call = book.events[at].call
        if call is not None and call.context.id == context_id:
            raise StepRefused(
                step.id,
                f"context {context_id} answered {other.id}, the same step side by side",
                "give each of them a context of its own, as c1, c2, …",
            )


def context_of(book: Book, step: Step, context_id: str | None) -> Context:
    """Return whether a context is fresh or continued, by the ids this run has seen; it serves one role (FORMAT 5, law
    5)."""
    if context_id is None:
        return Context(mode=None, id=None)
    owner = book.state.contexts.get(context_id)
    # A context that played another role has read that role's prompts, which breaks
    # the isolation between roles.
    if owner is not None and owner != step.role:
        raise StepRefused(
            step.id,
            f"context {context_id} serves {owner}",
            "give each role a context of its own, as c1, c2, …",
        )
    return Context(mode="fresh" if owner is None else "continued", id=context_id)
