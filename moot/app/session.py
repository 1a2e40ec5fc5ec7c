"""Step-by-step work on a run: open steps, replies, steps given up, and a person's entries.

The command line, agent hosts and programs all use `Session`. Every action takes the lock, reads the run anew, and is on
the disk when it returns.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ledger.events import Event
from ledger.events.envelope import SeatKind, TestResult
from ledger.state.book import commit_end
from ledger.state.state import State
from ledger.store.store import RunStore
from moot.app.runs import AnyPath, find_run
from moot.environment import now
from moot.errors import usage
from moot.run_view import RunView
from moot.view.outcome import Outcome
from moot.view.results import Submission
from moot.view.steps import Next, OpenStep, next_of
from roles.evidence import claims_with_ids
from roles.protocol import awaited_answers, awaited_experiments, open_steps
from roles.seats.port import Answer, SeatFailed
from rounds.run import human_actions
from rounds.run.acceptance import Fate
from rounds.run.outcome import RunQuorum, quorum_of
from rounds.run.session import RunSession, find_open
from rounds.run.verdicts import standard

Reply = bytes | str | Mapping[str, Any]
"""The JSON object that answers a step: its bytes, its text, or the object itself."""

TEXT_MAX: Final = 8_000
UNKEPT: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters that no string of a ledger holds (FORMAT 1)."""
LOOK_EVERY_SECONDS: Final = 0.2
_CONTEXT_ID: Final = re.compile(r"c[1-9][0-9]*")
_NAME_MAX: Final = 200


class Session:
    """Step-by-step access to the run at `run`. Raises `errors.LedgerError` for a damaged run or another directory."""

    def __init__(self, run: AnyPath) -> None:
        self.path: Final = Path(run)
        self.inner: Final = session_at(self.path)

    @property
    def state(self) -> State:
        """Return the state after the last event."""
        return self.inner.book().state

    @property
    def finished(self) -> bool:
        """Return whether the run has ended."""
        return self.state.finished

    @property
    def quorum(self) -> RunQuorum:
        """Return the declared and the actual quorum so far, what was lost, and whether a role decided."""
        return quorum_of(self.state)

    @property
    def outcome(self) -> Outcome:
        """Return the outcome: the answer, how sure, why, what would change it, what it needs from a person."""
        return RunView(self.inner.book(), str(self.path), self.path).outcome

    @property
    def open_ids(self) -> list[str]:
        """Return the ids of the steps that can run now."""
        return [step.id for step in open_steps(self.inner.protocol, self.state)]

    @property
    def experiments(self) -> tuple[str, ...]:
        """Return the ids of the experiments that the run waits for: no reply starts a program."""
        return awaited_experiments(self.inner.protocol, self.state)

    @property
    def questions(self) -> tuple[str, ...]:
        """Return the ids of the questions to a person that the run waits for."""
        return awaited_answers(self.inner.protocol, self.state)

    def open_steps(self, role: str | None = None) -> list[OpenStep]:
        """Return the steps that can run now, of one role when given, with the exact prompt and the reply's schema."""
        return self.next(role).steps

    def next(self, role: str | None = None, *, wait_seconds: float = 0.0) -> Next:
        """Return the open steps and what else is awaited; if no step is open, wait up to `wait_seconds` for one.

        Raises `errors.MootError` for a role that the run does not have, and for an import, which has no steps.
        """
        if self.inner.opened.origin.type == "import":
            go_on = f"go on in a fork: `moot fork {self.path} --seats host`"
            raise usage("an import asks nobody", go_on, str(self.path))
        self.check_role(role)
        self.inner.settle()
        # `settle` first: a driver that was killed may have left work that only the controller can do.
        until = time.monotonic() + wait_seconds
        # A closed run opens no more steps, so waiting for one would only use up the time.
        while not (steps := self.inner.pending(role)) and self.state.closing is None:
            if not _has_news(self.inner.run, until):
                break
        return next_of(str(self.path), self.inner, steps)

    def step(self, step: str) -> Next:
        """Return one open step with its prompt and the reply's schema. Raises `errors.StepRefused`."""
        self.inner.settle()
        find_open(self.inner.protocol, self.inner.book(), step)
        steps = [row for row in self.inner.pending(role_of(step)) if row.step.id == step]
        return next_of(str(self.path), self.inner, steps)

    def check_role(self, role: str | None) -> None:
        """Raise `errors.MootError` for a role that the run does not have."""
        roles = self.state.roles
        if role is not None and role not in roles:
            raise usage(f"no role {role!r} in this run", f"roles are {', '.join(roles)}", "role")

    def submit(
        self,
        step: str,
        reply: Reply,
        *,
        model: str | None = None,
        context_id: str | None = None,
        seat: SeatKind | None = None,
    ) -> Submission:
        """Submit the reply to an open step: one JSON object that satisfies the step's schema.

        The same bytes again are accepted again. `model` and `context_id` (c1, c2, …) say who answered, `seat` the kind
        of seat (a person where the opening says so, else a host). Raises `errors.ReplyRefused` and
        `errors.StepRefused`; then nothing was written.
        """
        answer = Answer(
            seat or self._seat_of(step),
            "trusted",
            model=model if model is None else _printable(model, "a model's name", "model"),
            context_id=_context(context_id),
        )
        done = self.inner.submit(step, _bytes(reply), answer)
        # A host that lost the first answer to its call gets the same result again, and not an empty one.
        return self._accepted(self._first_result(step) if done.already else done.events)

    def play(self, seat: Callable[[OpenStep], Reply]) -> Outcome:
        """Let `seat` answer each open step until none is left, and return the outcome.

        A seat that has no answer raises `errors.SeatFailed`, and the step is given up. Raises `errors.ReplyRefused` at
        the first reply that is refused: replies accepted before it are kept, and `play` goes on at that step.
        """
        while steps := self.open_steps():
            for step in steps:
                try:
                    reply = seat(step)
                # A failed seat costs its own step and not the run, as it does for a driven run.
                except SeatFailed as failed:
                    self.give_up(step.step, str(failed) or "the seat had no answer")
                else:
                    self.submit(step.step, reply)
        return self.outcome

    def give_up(self, step: str, reason: str) -> Submission:
        """Give an open step up for good; the run goes on without it. Raises `errors.StepRefused`."""
        return self._accepted(self.inner.give_up(step, "given_up", kept_words(reason, "reason")))

    def ids_in_claims(self, events: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the claims among some events whose words name ids of the run, each with those ids."""
        book, opened = self.inner.book(), self.state.opening
        labels = {item.id for item in (*opened.goals, *opened.options)} | {item.id for item in opened.context}
        return tuple(
            pair
            for identity in events
            if (event := book.by_id.get(identity)) is not None
            for pair in claims_with_ids(event, lambda name: name in labels or name in book.by_id)
        )

    def refused(self, errors: Iterable[str]) -> Submission:
        """Return the result of a refused reply."""
        return Submission(
            accepted=False,
            events=[],
            errors=list(errors),
            next=self.open_ids,
            quorum=self.quorum,
            outcome=self.outcome if self.finished else None,
        )

    def answer(
        self,
        question: str,
        text: str,
        *,
        by: str | None = None,
        result: TestResult | None = None,
        output: bytes | None = None,
    ) -> tuple[Event, ...]:
        """Answer a question, or submit the `result` of a test of the claim that it asks about.

        `output` is what the test produced. `by`, here and below, is the person's name.
        """
        return human_actions.answer(
            self.inner, question, kept_words(text), kept_name(by), result=result, output=output
        )

    def override(self, target: str, text: str, *, by: str | None = None) -> tuple[Event, ...]:
        """Overturn a decision in force, or a ruling or a screening (`@SEQ`), and state the new decision."""
        return human_actions.override(self.inner, target, kept_words(text), kept_name(by))

    def ack(self, alarm: str, text: str, *, by: str | None = None) -> tuple[Event, ...]:
        """Close an open alarm, named FM-1 or @SEQ; what it had amended ends with it."""
        return human_actions.acknowledge(self.inner, alarm, kept_words(text), kept_name(by))

    def note(self, text: str, *, by: str | None = None) -> tuple[Event, ...]:
        """Add a remark to the ledger; no prompt shows it."""
        return human_actions.note(self.inner, kept_words(text), kept_name(by))

    def accept(
        self, used: str | None = None, *, rejected: bool = False, by: str | None = None
    ) -> tuple[Event, ...]:
        """Record that the outcome was used as it is, as `used`, or was rejected; `study value` counts these."""
        return human_actions.accept(self.inner, used, rejected=rejected, name=kept_name(by))

    def say_what_became(
        self, fate: Fate, text: str, decision: str | None = None, *, by: str | None = None
    ) -> tuple[Event, ...]:
        """Record that a decision held, failed, or had mixed results; by default the first final one."""
        return human_actions.say_what_became(self.inner, fate, kept_words(text), decision, name=kept_name(by))

    def _accepted(self, events: Iterable[Event]) -> Submission:
        return Submission(
            accepted=True,
            events=names(events),
            errors=[],
            next=self.open_ids,
            quorum=self.quorum,
            outcome=self.outcome if self.finished or self.questions else None,
        )

    def _first_result(self, step: str) -> tuple[Event, ...]:
        """Return what a step's reply wrote when it was accepted: its commit, and what the controller added at once."""
        book = self.inner.book()
        # The event that answered the step; the rest of its commit follows directly.
        first = book.state.answered[step]
        end = commit_end(book.events, first)
        # The controller's additions are commits of their own after the reply's; a repeated submission returns the
        # same list.
        while end < len(book.events) and (
            book.events[end].by == "controller" and book.events[end].kind not in ("fallback", "run_closed")
        ):
            end = commit_end(book.events, end)
        return book.events[first:end]

    def _seat_of(self, step: str) -> SeatKind:
        role = role_of(step)
        kinds = {member.role: member.seat for member in self.inner.opened.cast}
        return "human" if kinds.get(role) == "human" else "host"


def open_session(name: str) -> Session:
    """Return the session of a RUN argument: a directory, an id, or @last."""
    return Session(find_run(name))


def session_at(path: Path) -> RunSession:
    """Return a run with its protocol. Raises `LedgerError` when it is damaged or not a run."""
    return RunSession(RunStore(path), standard, now)


def names(events: Iterable[Event]) -> list[str]:
    """Return how events are cited: by id, or `@seq` when their kind has none."""
    return [event.ref for event in events]


def role_of(step: str) -> str:
    """Return the role that a step's id names."""
    return step.rpartition(".")[2].partition("~")[0]


def kept_name(name: str | None) -> str | None:
    """Return a person's name as a ledger keeps it. Raises `MootError` when it cannot."""
    return None if name is None else _printable(name, "a person's name", "--by")


def kept_words(text: str, where: str = "text") -> str:
    """Return words that a ledger keeps: not empty, no control characters but line feeds and tabs.

    Raises `MootError`.
    """
    if not text.strip():
        raise usage("no words", "say it in words", where)
    # Refused and not cleaned: a ledger must hold what the person wrote, or nothing.
    if UNKEPT.search(text) or len(text) > TEXT_MAX:
        most = f"give at most {TEXT_MAX} characters, no control characters"
        raise usage("words that no ledger keeps", most, where)
    return text


def _has_news(run: RunStore, until: float) -> bool:
    """Return whether something was committed before the monotonic clock reached `until`."""
    head = run.head()
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(LOOK_EVERY_SECONDS, left))
        if run.head() != head:
            return True
    return False


def _bytes(reply: Reply) -> bytes:
    # Bytes are kept as they are, because the ledger hashes exactly what the seat sent.
    match reply:
        case bytes():
            return reply
        case str():
            # A lone surrogate cannot be encoded, and must not end a host's call with an exception.
            return reply.encode("utf-8", "replace")
        case _:
            return json.dumps(dict(reply), ensure_ascii=False).encode("utf-8", "replace")


def _context(context_id: str | None) -> str | None:
    # Names or paths in a context id would put private words on a ledger that is shared.
    if context_id is not None and not _CONTEXT_ID.fullmatch(context_id):
        what = f"no context id {context_id[:40]!r}"
        raise usage(what, "name conversations c1, c2, …, without names or paths", "context_id")
    return context_id


def _printable(name: str, what: str, where: str) -> str:
    if not (0 < len(name.strip()) <= _NAME_MAX and name.isprintable()):
        problem = f"{what} is 1 to {_NAME_MAX} printable characters"
        raise usage(problem, "give a name such as some-model-1 or Ada Lovelace", where)
    return name.strip()
