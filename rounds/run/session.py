"""A session: a run on disk with its protocol; every act takes the lock, folds anew, and commits what follows from it.

The automatic run, the step-by-step mode and acts of people all go through here (DESIGN 4, FORMAT 8). The process that
commits the last reply also commits, under the same lock, what the controller owes until a seat is needed.

One reply makes one commit: `accept` is a pure function of the book, and serves every way of running a protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from detectors.parameters import parameters_of
from ledger.events import Amendment, Attempt, Call, Context, Decision, Event, RunOpened
from ledger.events.envelope import GENESIS
from ledger.events.ids import parse_step
from ledger.events.run import Change, CloseReason
from ledger.redaction.masking import masked
from ledger.state.amendments import STOP_PATH
from ledger.state.book import Book, with_next
from ledger.store.blobs import hash_of
from ledger.store.failures import BlobMissing, refuse, strangeness
from ledger.store.store import RunStore, Writer, create_run
from roles.brief import Brief, BriefCache, derive
from roles.execution import answered, given_up, parsed
from roles.prompt_set import PromptSet, read_prompt_set
from roles.protocol import Protocol, Step, find_group, open_step, open_steps
from roles.seats.port import Answer, Used
from rounds.protocols import protocol_of
from rounds.run.controller import Controller, run_closed
from rounds.run.verdicts import Verdicts

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
    """Return the open step with that id; raises `StepRefused` with the reason for a step that is not open."""
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
    ours: dict[str, Any] = {
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
    """Return whether a context is fresh or continued, by the ids this run has seen.

    A context serves one role (FORMAT 5, law 5).
    """
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


Clock = Callable[[], str]
"""The present instant as FORMAT 1 writes it: `2026-03-04T05:06:07.000000Z`."""


class PendingStep(msgspec.Struct, frozen=True):
    """An open step with the brief that its seat is to be given."""

    step: Step
    brief: Brief


class Submitted(msgspec.Struct, frozen=True):
    """Result of a reply. `already`: the same bytes had been accepted before, and nothing was written."""

    events: tuple[Event, ...]
    already: bool = False


class RunSession:
    """A run in progress. Reading takes no lock; `verdicts` computes validations and signals."""

    def __init__(self, run: RunStore, verdicts: Callable[[Protocol], Verdicts], clock: Clock) -> None:
        self.run: Final = run
        self.now: Final = clock
        """Return the present instant."""
        state = run.book().state
        refuse(strangeness(state), run.path)
        opened = state.opening
        self.opened: Final = opened
        self.protocol: Final = protocol_of(opened, run.path)
        self.verdicts: Final = verdicts(self.protocol)
        self.controller: Final = Controller(self.protocol, self.verdicts)
        self._prompt_set: PromptSet | None = None

    @property
    def prompt_set(self) -> PromptSet:
        """Return the prompt set of the run, never the installed one (FORMAT 6)."""
        if self._prompt_set is None:
            blob = self.run.blobs.read(self.opened.prompt_set)
            if blob is None:
                raise BlobMissing("the prompt set of this run", str(self.run.path))
            self._prompt_set = read_prompt_set(blob)
        return self._prompt_set

    def _judged_by_its_own(self, book: Book) -> None:
        """Refuse to write what could not be judged afterwards. Raises `BlobMissing`."""
        if self.protocol.watched:
            parameters_of(book.state, book.blobs)

    def book(self) -> Book:
        """Return the book as it is now."""
        return self.run.book()

    def pending(self, role: str | None = None) -> tuple[PendingStep, ...]:
        """Return the open steps, of one role if named, with their briefs."""
        book = self.book()
        self._judged_by_its_own(book)
        # One cache for all open steps: their prompts share most blocks.
        memo = BriefCache()
        return tuple(
            PendingStep(step, derive(book, self.protocol, step, self.prompt_set, memo))
            for step in open_steps(self.protocol, book.state)
            if role is None or step.role == role
        )

    def submit(
        self, step_id: str, content: bytes, answer: Answer, blobs: Mapping[str, bytes] | None = None
    ) -> Submitted:
        """Hand in a reply, with the blobs of earlier attempts if there were any.

        Raises `StepRefused` or `ReplyRefused`, and then nothing was written.
        """
        with self.run.writer() as writer:
            book = writer.book()
            # The check runs under the lock: the same reply handed in twice after a crash
            # must write one event.
            seq = book.state.answered.get(step_id)
            if seq is not None:
                call = book.events[seq].call
                if call is not None and call.reply == hash_of(content):
                    return Submitted(self._settle(writer), already=True)
            self._judged_by_its_own(book)
            step = find_open(self.protocol, book, step_id)
            accepted = accept(self.protocol, book, step, content, answer, self.prompt_set)
            events = writer.commit(accepted.events, at=self.now(), blobs={**(blobs or {}), **accepted.blobs})
            # Under the same lock: another process must not answer a step before its round has been opened.
            return Submitted((*events, *self._settle(writer)))

    def give_up(self, step_id: str, reason: str, detail: str) -> tuple[Event, ...]:
        """Give an open step up for good; the run goes on without it."""
        with self.run.writer() as writer:
            self._judged_by_its_own(writer.book())
            step = find_open(self.protocol, writer.book(), step_id)
            # Details can quote a request with its key, so they are masked before they reach the ledger.
            drafts = given_up(self.protocol, writer.book(), step, reason, masked(detail))
            events = writer.commit(drafts, at=self.now())
            return (*events, *self._settle(writer))

    def commit(
        self, make: Callable[[Book], tuple[Event, ...]], blobs: Mapping[str, bytes]
    ) -> tuple[Event, ...]:
        """Commit what `make` returns under the lock, without anything that follows from it."""
        with self.run.writer() as writer:
            drafts = make(writer.book())
            return writer.commit(drafts, at=self.now(), blobs=blobs) if drafts else ()

    def settle(self) -> tuple[Event, ...]:
        """Commit what the controller owes, as after a writer that died in between."""
        # Looked at without the lock first, so that readers of a finished run never need to write.
        if not self.controller.owed(self.book()):
            return ()
        with self.run.writer() as writer:
            return self._settle(writer)

    def stop(self, reason: CloseReason, detail: str = "") -> tuple[Event, ...]:
        """Close the run so that it can be resumed, with a note on the reason; nothing when it is closed already."""
        with self.run.writer() as writer:
            book = writer.book()
            if book.state.closing is not None:
                return ()
            closed = run_closed(book, "stopped", reason)
            return writer.commit([closed, *_stop_note(book, reason, detail)], at=self.now())

    def append(
        self, make: Callable[[Book], Iterable[Event]], blobs: Mapping[str, bytes] | None = None
    ) -> tuple[Event, ...]:
        """Commit what a person adds; `make` sees the book under the lock and raises when it may not be added.

        What `make` gives that is on the ledger already, events of the book itself, is not written again.
        """
        with self.run.writer() as writer:
            book = writer.book()
            drafts_made = tuple(make(book))
            there = tuple(event for event in drafts_made if is_on_ledger(event))
            drafts = [event for event in drafts_made if event not in there]
            # What an answer moves belongs to the same commit: no reader sees the one without the other.
            drafts += [
                event
                for draft in drafts
                if isinstance(draft, Decision) and draft.type == "answer"
                for event in self.protocol.after_answer(with_next(book, draft), draft)
            ]
            written = writer.commit(drafts, at=self.now(), blobs=blobs or {}) if drafts else ()
            return (*there, *written, *self._settle(writer))

    def _settle(self, writer: Writer) -> tuple[Event, ...]:
        written: list[Event] = []
        # A loop, because each commit can make the next one due: a validation, then the look, then a round.
        while drafts := self.controller.owed(writer.book()):
            written += writer.commit(drafts, at=self.now())
        return tuple(written)


def _stop_note(book: Book, reason: CloseReason, detail: str) -> tuple[Amendment, ...]:
    """Return the note with a driver's own words about a stop; a later reader has no other place to find the cause."""
    if not detail:
        return ()
    state = book.state
    return (
        Amendment(
            round=state.round,
            phase=state.phase,
            by="human",  # like the note with which a driver resumes, so re-execution takes it as given
            what="note",
            change=(Change(path=STOP_PATH, from_=None, to=reason),),
            cause="driver",
            reason=masked(detail)[:2_000],
        ),
    )


def is_on_ledger(event: Event) -> bool:
    """Return whether an event was committed; a draft has no predecessor yet."""
    return event.prev != GENESIS


def start(
    path: Path,
    opening: RunOpened,
    *,
    blobs: Mapping[str, bytes],
    files: Mapping[str, bytes],
    verdicts: Callable[[Protocol], Verdicts],
    clock: Clock,
) -> RunSession:
    """Open a new run and its first round."""
    run = create_run(path, opening, blobs=blobs, at=clock(), files=files)
    session = RunSession(run, verdicts, clock)
    session.settle()
    return session
