"""The verbs of the command line as methods, on runs below one directory, with the results of `--json`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

import moot
from ledger.events import Event
from ledger.events.ids import parse_step
from ledger.result import Result
from moot.app.run import Run
from moot.app.running import open_deliberation
from moot.app.runs import RUN_NAME, new_directory
from moot.app.session import Session, names, role_of
from moot.errors import usage
from moot.mcp.pages import RESULT_BYTES_MAX, size_of
from moot.mcp.rights import Rights
from moot.view.labels import RunQuorum
from moot.view.results import Act
from moot.view.steps import OpenStep
from roles.brief import derive
from roles.seats.host import HostSeat
from rounds.protocols import awaited_of
from rounds.run.engine import ReplyRefused
from rounds.setup.deliberation import checked
from rounds.setup.gate import REASONS
from rounds.setup.opening import cast_roles
from rounds.setup.size import asked_of

WAIT_MAX: Final = 600.0


class Opened(Result, frozen=True):
    """A run that was opened, as it was set up. `cast`: role → title and charge; `rules`: the variants in force;
    `gate`: why the question's words chose the protocol, null where you named it. `rounds`: how many are planned;
    `replies`: how many these ask for, at most. `tokens`: role → token, `operator`
    first; a seat is given its own and no other."""

    run: str
    protocol: str
    gate: str | None
    roles: list[str]
    question: str
    goals: list[str]
    options: list[str]
    documents: list[str]
    cast: dict[str, dict[str, str]]
    rules: dict[str, str]
    rounds: int
    replies: int
    tokens: dict[str, str]
    open: list[str]
    held_up: list[str]


class PublicStatus(Result, frozen=True):
    """Where a run stands, as everybody may know: no texts, no verdicts."""

    run: str
    protocol: str
    state: str
    stopped_by: str | None
    round: int
    rounds_planned: int
    phase: str
    answered: int
    open: list[str]
    held_up: list[str]
    awaits: list[str]  # questions that only a person can answer, and that the run waits for
    finished: bool
    quorum: RunQuorum


class ReportText(Result, frozen=True):
    """A document."""

    run: str
    text: str


def brief_part(step: OpenStep, begin: int, most: int | None) -> OpenStep:
    """Return a step with a part of its brief, which ends with where to go on; unchanged when all of it fits."""
    brief = step.brief
    if most is None:
        # The schema, what else is open, and where to go on take their place too.
        room = max(RESULT_BYTES_MAX - size_of(step.schema) - 4_000, 4_000)
        most = len(brief) - begin
        while most > 1 and size_of(brief[begin : begin + most]) > room:
            # Shrunk in steps: the bytes of a character vary, so the right length cannot be computed directly.
            most = most * 9 // 10
        if most == len(brief):
            return step
    end = min(len(brief), begin + most)
    if begin >= len(brief):
        raise usage(f"the brief has {len(brief)} characters", "begin again with brief_from 0", "brief_from")
    more = f"go on with brief_from {end}" if end < len(brief) else "this is its end"
    text = f"{brief[begin:end]}\n\n[characters {begin} to {end} of {len(brief)} of the brief; {more}]"
    return replace(step, brief=text)


@dataclass(frozen=True, slots=True)
class Verbs:
    """The verbs over the runs of one directory. Every method raises errors that an agent can act on."""

    runs: Path
    rights: Rights

    def opened(self, door: str, run: str, token: str | None) -> Session:
        """Return a run for a call that `token` allows. Raises `NotAllowed`."""
        session = self.session(run)
        self.rights.check(door, session.inner, token)
        return session

    def session(self, run: str) -> Session:
        """Return a run by its name below the directory; a name cannot lead elsewhere."""
        # A name with a slash or dots could lead to a run outside of the directory, whose tokens another secret makes.
        if not RUN_NAME.fullmatch(run) or not (self.runs / run / "head").is_file():
            there = ", ".join(sorted(path.parent.name for path in self.runs.glob("*/head"))[:8]) or "none"
            raise usage(f"no run {run[:80]!r}", f"runs there: {there}; open one with `new`", "run")
        return Session(self.runs / run)

    def new(self, table: dict[str, Any]) -> Opened:
        """Open a run for host seats."""
        deliberation = checked(table, name="new")
        # An agent could otherwise have the server read any file of its user into a prompt.
        if any(document.path is not None for document in deliberation.context):
            raise usage("a document by path", "give its text: the server reads no files for a run", "context")
        # Only host seats: over MCP no call may start a program or spend money on a model.
        seats = dict.fromkeys(cast_roles(deliberation, "new"), HostSeat())
        path = new_directory(self.runs, date.today())
        return self._opened(open_deliberation(deliberation, seats, path, documents={}, name="new"))

    def _opened(self, session: Session) -> Opened:
        state, protocol = session.state, session.inner.protocol
        opened = state.opening
        return Opened(
            run=session.path.name,
            protocol=protocol.name,
            gate=None if (reason := opened.rules.get(REASONS)) is None else str(reason),
            roles=list(state.roles),
            question=opened.question,
            goals=[goal.text for goal in opened.goals],
            options=[option.text for option in opened.options],
            documents=[document.name for document in opened.context],
            cast={
                member.role: {"title": member.title, "charge": member.charge or ""} for member in opened.cast
            },
            rules={name: str(opened.rules[name]) for name in protocol.variants if name in opened.rules},
            rounds=len(opened.plan),
            replies=asked_of(opened).total(),
            tokens=self.rights.tokens(session.inner),
            open=session.open_ids,
            held_up=list(state.held_up),
        )

    def next(
        self, run: str, role: str | None, token: str | None, brief_from: int = 0, brief_max: int | None = None
    ) -> dict[str, Any]:
        """Return the open steps that the token may see, with schemas and `brief_max` characters of each prompt.

        Without `brief_max`, a prompt that is too long for one result is cut to what fits.
        """
        session = self.session(run)
        seat = self.rights.check("next", session.inner, token, role)
        # After the token: an unknown role must not reveal the cast to a caller without rights.
        session.check_role(seat)
        session.inner.settle()
        stopped = session.state.stopped_by
        if stopped is not None:
            raise usage(
                f"the run was stopped ({stopped.replace('_', ' ')}): nothing is asked any more",
                "stop, and tell the operator; `moot run --resume` goes on",
                "next",
            )
        listing = replace(session.next(seat), run=run)
        return replace(
            listing, steps=[brief_part(step, brief_from, brief_max) for step in listing.steps]
        ).model_dump()

    def has_news(self, session: Session, role: str | None) -> bool:
        """Return whether `next` has something to report: an open step of the role, or the end."""
        state = session.state
        # A stop or a hold is news too: the agent would otherwise wait for a step that never opens.
        if state.life != "running" or state.held_up:
            return True
        return any(role in (None, role_of(step)) for step in session.open_ids)

    def submit(
        self, run: str, step: str, reply: str, token: str | None, model: str | None, context: str | None
    ) -> Result:
        """Submit one reply, under the token of the step's role."""
        session = self.session(run)
        self.rights.check("submit", session.inner, token, role_of(step))
        try:
            # The kind of seat is fixed here, so that an agent's reply can never count as a person's.
            return session.submit(step, reply, model=model, context_id=context, seat="host")
        # A refused reply is a result with errors to fix, not an error of the call.
        except ReplyRefused as refused:
            return session.refused(refused.errors)

    def give_up(self, run: str, step: str, reason: str, token: str | None) -> Result:
        """Give an open step up for good; only the operator may."""
        return self.opened("give_up", run, token).give_up(step, reason)

    def status(self, run: str) -> PublicStatus:
        """Return the state of a run, without anything that a seat must not see."""
        session = self.session(run)
        state, asked = session.state, session.open_ids
        # The phase of the first open step, because the ledger's own phase changes only with an event.
        first = parse_step(asked[0]) if asked else None
        return PublicStatus(
            run=run,
            protocol=session.inner.protocol.name,
            state=state.life,
            stopped_by=state.stopped_by,
            round=state.round,
            rounds_planned=len(state.opening.plan),
            phase=first.phase if first else state.phase,
            answered=len(state.answered),
            open=asked,
            held_up=list(state.held_up),
            awaits=list(awaited_of(state)),
            finished=state.finished,
            quorum=session.quorum,
        )

    def read(self, door: str, run: str, token: str | None, act: Callable[[Run], Result]) -> dict[str, Any]:
        """Return the result of a reading verb, under the run's name as the caller knows it."""
        content = act(moot.open_run(self.opened(door, run, token).path)).model_dump()
        return {**content, "run": run}

    def diff(self, a: str, b: str, token: str | None) -> Result:
        """Compare two runs, each of them finished or read with its operator's token."""
        sessions = [self.session(a), self.session(b)]
        theirs = [session for session in sessions if self.rights.is_of(session.inner, token)]
        for (
            session
        ) in sessions:  # a token of one of the two is none of the other's, and is not held against it
            self.rights.check("diff", session.inner, None if theirs and session not in theirs else token)
        return moot.diff(self.runs / a, self.runs / b)

    def brief(self, run: str, step: str) -> str:
        """Return the prompt of a step of a finished run."""
        session = self.opened("moot://runs/{run}/briefs/{step}", run, None).inner
        match = next(
            (
                candidate
                for round_ in session.book().state.rounds
                for group in session.protocol.groups(session.book().state, round_)
                for candidate in group.steps
                if candidate.id == step
            ),
            None,
        )
        if match is None:
            raise usage(
                f"no step {step[:80]!r} in this run", "see `decisions` or `report` for its ids", "step"
            )
        return derive(session.book(), session.protocol, match, session.prompt_set).text

    def fork(
        self, run: str, round_: int | None, without: str | None, token: str | None, *, here: bool = False
    ) -> Opened:
        """Create a run that shares everything before a round, or everything so far."""
        from moot.app.forks import made_fork

        session = self.opened("fork", run, token)
        forked = made_fork(session.path, round_, without=without, everybody="host", runs=self.runs, here=here)
        return self._opened(Session(forked.run))

    def act(self, door: str, run: str, token: str, act: Callable[[Session], Iterable[Event]]) -> Act:
        """Do what the person who runs the deliberation asks, and return the events."""
        return Act(run=run, events=names(act(self.opened(door, run, token))))
