"""Tools that open a run and play it: seats read their briefs and hand in replies, a seat that is gone is given up."""

from __future__ import annotations

import time
from datetime import date
from typing import Any, Final

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from msgspec.structs import replace

import moot
from ledger.events.ids import parse_step
from ledger.result import Result
from moot import version
from moot.app.opening import open_run_at
from moot.app.runs import new_directory
from moot.app.seats import declared_seats
from moot.app.session import Session, role_of
from moot.app.settings import keyed
from moot.errors import usage
from moot.mcp.rights import Rights
from moot.mcp.tools import RESULT_BYTES_MAX, Tools, size_of
from moot.output_schemas import result_of
from moot.view.steps import Next, OpenStep
from moot.view.words import why_closed
from roles.seats.host import HostSeat
from rounds.protocols import awaited_of
from rounds.run.outcome import RunQuorum
from rounds.run.session import ReplyRefused
from rounds.setup.deliberation import checked
from rounds.setup.gate import REASONS
from rounds.setup.opening import cast_roles, resolve
from rounds.setup.size import replies_of

WAIT_MAX: Final = 600.0
POLL_SECONDS: Final = 0.25
PROGRESS_SECONDS: Final = 5.0


class Opened(Result, frozen=True):
    """A run that was opened, as it was set up. `cast`: role → title and charge; `rules`: the variants in force;
    `gate`: why the question's words chose the protocol, null where you named it. `rounds`: how many are planned;
    `replies`: how many these ask for, at most. `tokens`: role → token, `operator`
    first; a seat is given its own and no other.
    """

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


def opened_of(session: Session, rights: Rights) -> Opened:
    """Return a run that was just opened."""
    state, protocol = session.state, session.inner.protocol
    opened = state.opening
    reason = opened.rules.get(REASONS)
    return Opened(
        run=session.path.name,
        protocol=protocol.name,
        gate=None if reason is None else str(reason),
        roles=list(state.roles),
        question=opened.question,
        goals=[goal.text for goal in opened.goals],
        options=[option.text for option in opened.options],
        documents=[document.name for document in opened.context],
        cast={member.role: {"title": member.title, "charge": member.charge or ""} for member in opened.cast},
        rules={name: str(opened.rules[name]) for name in protocol.variants if name in opened.rules},
        rounds=len(opened.plan),
        replies=replies_of(opened).total(),
        tokens=rights.tokens(session.inner),
        open=session.open_ids,
        held_up=list(state.held_up),
    )


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


def public_status(run: str, session: Session) -> PublicStatus:
    """Return the state of a run, without anything that a seat must not see."""
    state, open_ids = session.state, session.open_ids
    # The phase of the first open step, because the ledger's own phase changes only with an event.
    first = parse_step(open_ids[0]) if open_ids else None
    return PublicStatus.from_parts(
        state,
        run=run,
        protocol=session.inner.protocol.name,
        state=state.life,
        rounds_planned=len(state.opening.plan),
        phase=first.phase if first else state.phase,
        answered=len(state.answered),
        open=open_ids,
        awaits=awaited_of(state),
        quorum=session.quorum,
    )


def has_news(session: Session, role: str | None) -> bool:
    """Return whether `next` has something to report: an open step of the role, or the end."""
    state = session.state
    # A stop or a hold is news too: the agent would otherwise wait for a step that never opens.
    if state.life != "running" or state.held_up:
        return True
    return any(role in (None, role_of(step)) for step in session.open_ids)


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


def add_opening_tools(tools: Tools) -> None:
    """Register `new` and what it chooses from."""

    @tools.tool(Opened)
    @keyed
    def new(
        question: str,
        context: list[dict[str, str]] | None = None,
        rules: dict[str, str] | None = None,
        cast: dict[str, dict[str, str]] | None = None,
        max_rounds: int | None = None,
        round: list[dict[str, Any]] | None = None,
        predict: list[dict[str, str]] | None = None,
        budget: dict[str, Any] | None = None,
        gate: dict[str, Any] | None = None,
        experiments: dict[str, str] | None = None,
        **settings: Any,
    ) -> Any:
        """Open a deliberation whose seats are your agents. Only `question` is required; the other arguments are the
        keys of a deliberation file. `protocol`: if not said, the question's words choose it, mostly crux (see `gate`).
        `plan`: standard-13 or minimum-8 (structured only). `context`: documents as {name, text}. `rules`: variants as
        texts, {"rounds": "2"}, see `protocols`. `cast`: role → {title, charge}. `no_stress`: nobody is ever absent,
        which is said before every verdict. `round`: rows {n, absent, drift, phases, focus}, for stress rounds and drift
        checks of one's own. `predict`: {role, code, text}, what an absence will show. `profile`, `check_every`,
        `not_before`: by which signals it stops, how often one looks, from which round on a stop is obeyed. `positions`:
        beliefs, sealed, off. `seed`: of every choice by chance. `budget`: {usd, tokens, calls, minutes, rounds};
        `max_rounds` is its rounds. `gate`: {single: one reply; compete, triggers: never one reply} for that choice.
        `experiments`: {"run": "on"} asks for programs to be run; they stay off until the person says so (`moot run
        --resume RUN --experiments on`). Returns the run's name, its cast and variants, and a token for every seat
        and for you, the operator.
        """
        chosen = {key: value for key, value in settings.items() if value is not None and value is not False}
        tables = {
            "deliberation": {"question": question, **chosen},
            "context": context,
            "rules": rules,
            "cast": cast,
            "round": round,
            "predict": predict,
            # `max_rounds` is a shortcut that agents find more easily than the key of a table.
            "budget": {**(budget or {}), **({"rounds": max_rounds} if max_rounds is not None else {})}
            or None,
            "gate": gate,
            "experiments": experiments,
        }
        # Absent keys are left out, so that the defaults of a deliberation file apply.
        deliberation = checked({key: value for key, value in tables.items() if value is not None}, name="new")
        # An agent could otherwise have the server read any file of its user into a prompt.
        if any(document.path is not None for document in deliberation.context):
            raise usage("a document by path", "give its text: the server reads no files for a run", "context")
        # Only host seats: over MCP no call may start a program or spend money on a model.
        seats = dict.fromkeys(cast_roles(deliberation, "new"), HostSeat())
        path = new_directory(tools.runs, date.today())
        opening = resolve(deliberation, {}, moot=version(), name="new", seats=declared_seats(seats))
        return opened_of(open_run_at(path, opening, seats), tools.rights)

    @tools.tool(result_of("protocols"))
    def protocols() -> Any:
        """List the protocols with roles, number of replies, when to use which, and their variants; the plans."""
        return moot.protocols()

    @tools.tool(result_of("gate"))
    def gate(text: str, options: list[str] | None = None) -> Any:
        """Return which protocol `new` gives a question that names none, with the reason, replies, price and time, and
        what else would fit. The words tell the kind of question, in English; each kind has its protocol.
        """
        return moot.gate(text, options or [])


def add_seat_tools(tools: Tools) -> None:
    """Register what plays a run: `next`, `submit`, `give_up` and `status`."""

    @tools.tool(result_of("next"))
    async def next(  # the verb's name
        run: str,
        token: str,
        ctx: Context[Any, Any],
        role: str | None = None,
        wait_seconds: float = 0.0,
        brief_from: int = 0,
        brief_max: int | None = None,
        limit: int | None = None,
        after: int = 0,
    ) -> Any:
        """Return the open steps of your seat: the exact brief, and the JSON Schema of the reply. With the operator's
        token: of `role`, or of all, `limit` of them that follow the first `after`. Waits up to `wait_seconds` (600
        at most) for one to open. `done` means that the run is finished. A long brief comes in parts, `brief_max`
        characters each: go on with `brief_from` until the end is said, and read all of it before you answer.
        """
        # Checked before the waiting: a wrong argument must not cost ten minutes.
        if brief_from < 0 or (brief_max is not None and brief_max < 1):
            raise ToolError("brief_from is 0 or more, brief_max 1 or more")
        # Waiting comes first and holds no lock, so that other calls go on meanwhile.
        with tools.refusing(run):
            session = tools.session(run)
            # A wrong token is refused at once, and cannot be used to watch when a run moves.
            seat = tools.rights.check("next", session.inner, token, role)
            # After the token: an unknown role must not reveal the cast to a caller without rights.
            session.check_role(seat)
            await _waited(ctx, session, seat, min(max(wait_seconds, 0.0), WAIT_MAX))

        def open_steps() -> Next:
            """Return the open steps that the token may see, each with what is asked for of its prompt."""
            session = tools.session(run)
            seat = tools.rights.check("next", session.inner, token, role)
            session.inner.settle()
            stopped = session.state.stopped_by
            if stopped is not None:
                raise usage(
                    f"the run was stopped, as {why_closed(stopped)}: nothing is asked any more",
                    "stop, and tell the operator; `moot run --resume` goes on",
                    "next",
                )
            listing = session.next(seat)
            return replace(
                listing, run=run, steps=[brief_part(step, brief_from, brief_max) for step in listing.steps]
            )

        return tools.answered("next", open_steps, [run], limit, after)

    @tools.tool(result_of("submit"))
    def submit(
        run: str,
        step: str,
        reply: str,
        token: str,
        model: str | None = None,
        context_id: str | None = None,
    ) -> Any:
        """Hand in the reply to an open step: one JSON object as text, which satisfies the step's schema.
        `accepted` false comes with the errors: fix exactly these and submit again. The same reply again is
        accepted again. `context_id` (c1, c2, …) names your conversation; one conversation holds one role.
        """
        session = tools.session(run)
        tools.rights.check("submit", session.inner, token, role_of(step))
        try:
            # The kind of seat is fixed here, so that an agent's reply can never count as a person's.
            return session.submit(step, reply, model=model, context_id=context_id, seat="host")
        # A refused reply is a result with errors to fix, not an error of the call.
        except ReplyRefused as refused:
            return session.refused(refused.errors)

    @tools.tool(result_of("submit"))
    def give_up(run: str, step: str, reason: str, token: str) -> Any:
        """Give an open step up for good, when its agent is gone; the run goes on without it. Operator only."""
        return tools.opened("give_up", run, token).give_up(step, reason)

    @tools.tool(PublicStatus)
    def status(run: str) -> Any:
        """Return the state of a run: round, phase, open steps, whether it is finished or held up. Nothing that a seat
        must not see.
        """
        return public_status(run, tools.session(run))


async def _waited(ctx: Context[Any, Any], session: Session, seat: str | None, seconds: float) -> None:
    """Wait until there is something for the seat, or the time is over; a cancelled call ends here."""
    began = reported = time.monotonic()
    seen, news = session.inner.run.head(), has_news(session, seat)
    while not news and time.monotonic() - began < seconds:
        await anyio.sleep(POLL_SECONDS)
        # The run is read again only when something was committed.
        if (head := session.inner.run.head()) != seen:
            seen, news = head, has_news(session, seat)
        if time.monotonic() - reported > PROGRESS_SECONDS:
            reported = time.monotonic()
            await ctx.report_progress(reported - began, seconds, "others are thinking")
