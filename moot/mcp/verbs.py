"""What the tools do: the verbs of the command line on runs below one directory, with results as `--json` prints
them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal, assert_never

from msgspec.structs import replace

import moot
from ledger.result import Result
from moot.api import open_run
from moot.app.naming import RUN_NAME, new_directory
from moot.app.running import open_run_at, opening_of
from moot.app.sessions import first_result, names, open_now, session_at
from moot.cli.options import TEXT_MAX, UNKEPT
from moot.errors import usage
from moot.mcp.rights import Rights
from moot.view.claims import claims_of
from moot.view.decisions import decisions_of
from moot.view.played import Submission
from moot.view.protocols import gated_of, protocols
from moot.view.quorum import Outcome, outcome_told
from moot.view.results import Act
from moot.view.steps import next_of
from roles.brief import derive
from roles.protocol import open_steps
from rounds.run import human_actions as people
from rounds.run.engine import Answer, ReplyRefused
from rounds.run.session import RunSession
from rounds.setup import gate
from rounds.setup.deliberation import checked
from rounds.setup.opening import cast_roles
from rounds.setup.size import asked_of

_CONTEXT: Final = re.compile(r"c[1-9][0-9]*")
WAIT_MAX: Final = 600.0

Reading = Literal["claims", "decisions", "check", "signals"]
Acting = Literal["answer", "override", "ack", "note"]


class Opened(Result, frozen=True):
    """A run that was opened, as it was set up. `cast`: role → title and charge; `rules`: the variants in force;
    `rounds`: how many are planned; `replies`: how many these ask for, at most. `tokens`: role → token, `operator`
    first; a seat is given its own and no other."""

    run: str
    protocol: str
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


class Standing(Result, frozen=True):
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
    finished: bool
    outcome: Outcome


class Text(Result, frozen=True):
    """A document."""

    run: str
    text: str


def part_of(brief: str, begin: int, most: int | None) -> str:
    """A part of a brief for hosts that cut long results, ending with where to go on."""
    end = len(brief) if most is None else min(len(brief), begin + most)
    if begin >= len(brief):
        raise usage(f"the brief has {len(brief)} characters", "begin again with brief_from 0", "brief_from")
    more = f"go on with brief_from {end}" if end < len(brief) else "this is its end"
    return f"{brief[begin:end]}\n\n[characters {begin} to {end} of {len(brief)} of the brief; {more}]"


def _kept(text: str, where: str) -> str:
    """Words that a ledger keeps, as the command line takes them. Raises `MootError`."""
    if not text.strip():
        raise usage("no words", "say it in words", where)
    if UNKEPT.search(text) or len(text) > TEXT_MAX:
        raise usage(
            "words that no ledger keeps", f"at most {TEXT_MAX} characters, no control characters", where
        )
    return text


def _now(session: RunSession) -> dict[str, Any]:
    """What every answer to a submission ends with: what is open, and what the run rests on."""
    return {"next": open_now(session), "outcome": outcome_told(session.book().state)}


@dataclass(frozen=True, slots=True)
class Verbs:
    """The verbs over the runs of one directory. Every method raises what an agent can act on."""

    runs: Path
    rights: Rights

    def opened(self, door: str, run: str, token: str | None) -> RunSession:
        """A run for a call that `token` allows. Raises `NotAllowed`."""
        session = self.session(run)
        self.rights.check(door, session, token)
        return session

    def session(self, run: str) -> RunSession:
        """A run by its name below the directory; a name leads nowhere else."""
        if not RUN_NAME.fullmatch(run) or not (self.runs / run / "head").is_file():
            there = ", ".join(sorted(path.parent.name for path in self.runs.glob("*/head"))[:8]) or "none"
            raise usage(f"no run {run[:80]!r}", f"runs there: {there}; open one with `new`", "run")
        return session_at(self.runs / run)

    def new(self, table: dict[str, Any]) -> Opened:
        """Open a run for host seats."""
        deliberation = checked(table, name="new")
        if any(document.path is not None for document in deliberation.context):
            raise usage("a document by path", "give its text: the server reads no files for a run", "context")
        seats = dict.fromkeys(cast_roles(deliberation, "new"), "host")
        opening = opening_of(deliberation, {}, seats, name="new")
        path = new_directory(self.runs, date.today())
        session = open_run_at(path, opening)
        return self._opened(session)

    def _opened(self, session: RunSession) -> Opened:
        state = session.book().state
        opened = state.opening
        return Opened(
            run=session.run.path.name,
            protocol=session.protocol.name,
            roles=list(state.roles),
            question=opened.question,
            goals=[goal.text for goal in opened.goals],
            options=[option.text for option in opened.options],
            documents=[document.name for document in opened.context],
            cast={one.role: {"title": one.title, "charge": one.charge or ""} for one in opened.cast},
            rules={
                name: str(opened.rules[name]) for name in session.protocol.variants if name in opened.rules
            },
            rounds=len(opened.plan),
            replies=asked_of(opened).total(),
            tokens=self.rights.tokens(session),
            open=open_now(session),
            held_up=list(state.held_up),
        )

    def next(
        self, run: str, role: str | None, token: str | None, brief_from: int = 0, brief_max: int | None = None
    ) -> Result:
        """The open steps that the token may see, with briefs, or `brief_max` characters of each, and schemas."""
        session = self.session(run)
        seat = self.rights.check("next", session, token, role)
        roles = session.book().state.roles
        if seat is not None and seat not in roles:
            raise usage(f"no role {seat!r} in this run", f"roles are {', '.join(roles)}", "role")
        session.settle()
        state = session.book().state
        if state.stopped_by is not None:
            reason = state.stopped_by.replace("_", " ")
            raise usage(
                f"the run was stopped ({reason}): nothing is asked any more",
                "stop, and tell the operator; `moot run --resume` goes on",
                "next",
            )
        found = next_of(run, session, session.asked(seat))
        if brief_from == 0 and brief_max is None:
            return found
        parts = [replace(step, brief=part_of(step.brief, brief_from, brief_max)) for step in found.steps]
        return replace(found, steps=parts)

    def has_news(self, session: RunSession, role: str | None) -> bool:
        """Whether there is something for `next`: an open step of the role, or the end."""
        state = session.book().state
        if state.life != "running" or state.held_up:
            return True
        return any(role in (None, step.role) for step in open_steps(session.protocol, state))

    def submit(
        self, run: str, step: str, reply: str, token: str | None, model: str | None, context: str | None
    ) -> Result:
        """Hand one reply in, under the token of the step's role."""
        session = self.session(run)
        self.rights.check("submit", session, token, step.rpartition(".")[2].partition("~")[0])
        if context is not None and not _CONTEXT.fullmatch(context):
            raise usage(
                f"no context id {context[:40]!r}", "write c1, c2, …: one for each conversation", "context_id"
            )
        answer = Answer("host", "trusted", model=model, context_id=context)
        try:
            done = session.submit(step, reply.encode("utf-8", "replace"), answer)
        except ReplyRefused as refused:
            return Submission(accepted=False, events=[], errors=list(refused.errors), **_now(session))
        events = first_result(session, step) if done.already else done.events
        return Submission(accepted=True, events=names(events), errors=[], **_now(session))

    def give_up(self, run: str, step: str, reason: str, token: str | None) -> Result:
        """Give an open step up for good; the operator's alone."""
        session = self.opened("give_up", run, token)
        events = session.give_up(step, "given_up", _kept(reason, "reason"))
        return Submission(accepted=True, events=names(events), errors=[], **_now(session))

    def status(self, run: str) -> Standing:
        """Where a run stands, without anything that a seat must not see."""
        session = self.session(run)
        state = session.book().state
        asked = open_steps(session.protocol, state)
        return Standing(
            run=run,
            protocol=session.protocol.name,
            state=state.life,
            stopped_by=state.stopped_by,
            round=state.round,
            rounds_planned=len(state.opening.plan),
            phase=asked[0].name.phase if asked else state.phase,
            answered=len(state.answered),
            open=open_now(session),
            held_up=list(state.held_up),
            finished=state.finished,
            outcome=outcome_told(state),
        )

    def read(self, run: str, verb: Reading, token: str | None) -> Result:
        """`claims`, `decisions`, `check` or `signals` of a run that may be read."""
        session = self.opened(verb, run, token)
        ours = open_run(session.run.path)
        match verb:
            case "claims":
                return claims_of(run, ours.book)
            case "decisions":
                return decisions_of(run, ours.book)
            case "check":
                return moot.check(ours)
            case "signals":
                if session.protocol.name != "structured":
                    raise usage(
                        f"a run of {session.protocol.name} has no stop signals", "see `decisions`", "signals"
                    )
                return moot.signals(ours)
            case _:
                assert_never(verb)

    def diff(self, a: str, b: str, token: str | None) -> Result:
        """Two runs compared, each of them finished or read with its operator's token."""
        sessions = [self.session(a), self.session(b)]
        theirs = [session for session in sessions if self.rights.is_of(session, token)]
        for (
            session
        ) in sessions:  # a token of one of the two is none of the other's, and is not held against it
            self.rights.check("diff", session, None if theirs and session not in theirs else token)
        return moot.diff(self.runs / a, self.runs / b)

    def report(self, run: str, token: str | None) -> Text:
        """The report in Markdown."""
        from moot.app.reporting import markdown

        session = self.opened("report", run, token)
        return Text(run=run, text=markdown(open_run(session.run.path)))

    def events(self, run: str, token: str | None) -> str:
        """Every line of the ledger, in order."""
        session = self.opened("moot://runs/{run}/events", run, token)
        return "\n".join(line.decode() for _, _, line in open_run(session.run.path).lines())

    def brief(self, run: str, step: str, token: str | None) -> str:
        """The text of the brief of an answered step."""
        session = self.opened("moot://runs/{run}/briefs/{step}", run, token)
        found = next(
            (
                one
                for round_ in session.book().state.rounds
                for group in session.protocol.groups(session.book().state, round_)
                for one in group.steps
                if one.id == step
            ),
            None,
        )
        if found is None:
            raise usage(
                f"no step {step[:80]!r} in this run", "see `decisions` or `report` for its ids", "step"
            )
        return derive(session.book(), session.protocol, found, session.prompt_set).text

    def fork(self, run: str, round_: int, without: str | None, token: str | None) -> Opened:
        """A new run that shares everything before a round."""
        from moot.app.forking import made_fork

        session = self.opened("fork", run, token)
        made = made_fork(session.run.path, round_, without=without, everybody="host", runs=self.runs)
        return self._opened(session_at(Path(made.run)))

    def act(self, run: str, verb: Acting, target: str, text: str, token: str | None) -> Result:
        """`answer`, `override`, `ack` or `note`, in the name of the person who runs the deliberation."""
        session = self.opened(verb, run, token)
        _kept(text, "text")
        match verb:
            case "answer":
                events = people.answer(session, target, text)
            case "override":
                events = people.override(session, target, text)
            case "ack":
                events = people.acknowledge(session, target, text)
            case "note":
                events = people.note(session, text)
            case _:
                assert_never(verb)
        return Act(run=run, events=names(events))

    def gate(self, text: str, options: list[str]) -> Result:
        """Which protocol a question deserves."""
        return gated_of(gate.gate(gate.Asked(text, options=tuple(options))))

    def protocols(self) -> Result:
        """What can be run."""
        return protocols()
