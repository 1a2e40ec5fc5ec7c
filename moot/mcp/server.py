"""The server: the verbs as typed tools, runs as resources, the five stages of setting up as prompts (SD-20).

Waiting is polled and can be cancelled; progress is reported where the client asks for it. No sampling is needed: a
host's own agents answer through `next` and `submit`. A person is asked by elicitation where the client has it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import anyio
import orjson
from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field, create_model

import moot
from ledger.events import Event
from ledger.result import Result
from moot.app.readings import (
    EventFilter,
    listed_events,
    read_claims,
    read_decisions,
    read_event,
    read_forecasts,
    read_grounds,
    read_log,
)
from moot.app.run import Run
from moot.app.session import Session
from moot.app.unlawful_runs import explain_with
from moot.errors import usage
from moot.mcp.pages import PARTS, LeftOut, page
from moot.mcp.prompts import STAGES
from moot.mcp.rights import rights_in
from moot.mcp.verbs import WAIT_MAX, Opened, PublicStatus, ReportText, Verbs
from moot.mcp.wire import Server
from moot.output_schemas import model_of, result_of
from moot.view.results import Act, Log

INSTRUCTIONS: Final = (
    "moot runs deliberations between your agents and keeps every act in a ledger. Open a run with `new`; "
    "it returns a token for every seat and one for yourself, the operator. Give each agent one role, its "
    "token and nothing else: it calls `next` with wait_seconds, answers the brief with one JSON object, "
    "and calls `submit`. One conversation holds one role. Read `claims`, `decisions`, `signals` and "
    "`check` with the operator's token; never show them to a seat while the run is open."
)
PAGED: Final = "A long result comes in pages: `limit` entries that follow the first `after`."
POLL_SECONDS: Final = 0.25
PROGRESS_SECONDS: Final = 5.0

T = TypeVar("T")


def build(runs: Path) -> MCPServer[Any]:
    """The server over the runs below a directory."""
    verbs = Verbs(runs, rights_in(runs))
    server = Server("moot", instructions=INSTRUCTIONS, version=moot.version(), log_level="WARNING")
    _add_tools(server, verbs)
    _add_resources(server, verbs)
    _add_prompts(server)
    return server


def _said(error: Exception, *runs: Path) -> str:
    """One line that an agent can act on: what, where, and the fix."""
    known = explain_with(error, runs)
    if known is None:
        return f"{type(error).__name__}: this is a fault of moot's: tell the operator what was called"
    return known.line.removeprefix("moot: ")


def _refusing(act: Callable[[], T], *runs: Path) -> T:
    """Do something about `runs`; whatever goes wrong becomes one line. Raises `ToolError`."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001
        raise ToolError(_said(error, *runs)) from None


def _run(act: Callable[[], Result | dict[str, Any]], *runs: Path) -> CallToolResult:
    """Return the result of a call about `runs`, as structure and as compact text."""
    found = _refusing(act, *runs)
    structure = found if isinstance(found, dict) else found.model_dump()
    text = orjson.dumps(structure).decode()
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structure)


def _tool(server: MCPServer[Any], result: type[Result], act: Callable[..., Any]) -> None:
    """Register a function whose result is published as that of a verb, with what a page leaves out."""
    name = act.__name__.rstrip("_")
    model = model_of(result)
    if name in PARTS:
        model = create_model(model.__name__, __base__=model, left_out=(LeftOut | None, None))
    act.__annotations__["return"] = model
    server.add_tool(act, name=name, description=act.__doc__, structured_output=True)


def _add_tools(server: MCPServer[Any], verbs: Verbs) -> None:
    _add_set_up(server, verbs)
    _add_seats(server, verbs)
    _add_reading(server, verbs)
    _add_people(server, verbs)


def _add_set_up(server: MCPServer[Any], verbs: Verbs) -> None:
    def new(
        question: str,
        protocol: str | None = None,
        goals: list[str] | None = None,
        options: list[str] | None = None,
        plan: str | None = None,
        domain: str | None = None,
        context: list[dict[str, str]] | None = None,
        rules: dict[str, str] | None = None,
        cast: dict[str, dict[str, str]] | None = None,
        max_rounds: int | None = None,
        no_stress: bool = False,
        profile: str | None = None,
        check_every: int | None = None,
        seed: int | None = None,
        not_before: int | None = None,
        positions: str | None = None,
        round: list[dict[str, Any]] | None = None,
        predict: list[dict[str, str]] | None = None,
        budget: dict[str, Any] | None = None,
        gate: dict[str, Any] | None = None,
        experiments: dict[str, str] | None = None,
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
        and for you, the operator."""
        subject = {
            "question": question,
            "protocol": protocol,
            "goals": goals,
            "options": options,
            "plan": plan,
            "domain": domain,
            "no_stress": no_stress or None,
            "profile": profile,
            "check_every": check_every,
            "seed": seed,
            "not_before": not_before,
            "positions": positions,
        }
        tables = {
            "deliberation": {key: value for key, value in subject.items() if value is not None},
            "context": context,
            "rules": rules,
            "cast": cast,
            "round": round,
            "predict": predict,
            "budget": {**(budget or {}), **({"rounds": max_rounds} if max_rounds is not None else {})}
            or None,
            "gate": gate,
            "experiments": experiments,
        }
        return _run(lambda: verbs.new({key: value for key, value in tables.items() if value is not None}))

    def protocols(limit: int | None = None, after: int = 0) -> Any:
        """The protocols with roles, number of replies, when to use which, and their variants; the plans."""
        return _run(lambda: page("protocols", moot.protocols().model_dump(), limit, after))

    def gate(text: str, options: list[str] | None = None) -> Any:
        """Which protocol `new` gives a question that names none, with the reason, replies, price and time, and what
        else would fit. Strong cues in English choose a protocol for its own kind of question, everything else is
        crux."""
        return _run(lambda: moot.gate(text, options or []))

    _tool(server, Opened, new)
    _tool(server, result_of("protocols"), protocols)
    _tool(server, result_of("gate"), gate)


def _add_seats(server: MCPServer[Any], verbs: Verbs) -> None:
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
        """The open steps of your seat: the exact brief, and the JSON Schema of the reply. With the operator's
        token: of `role`, or of all, `limit` of them that follow the first `after`. Waits up to `wait_seconds` (600
        at most) for one to open. `done` means that the run is finished. A long brief comes in parts, `brief_max`
        characters each: go on with `brief_from` until the end is said, and read all of it before you answer."""
        if brief_from < 0 or (brief_max is not None and brief_max < 1):
            raise ToolError("brief_from is 0 or more, brief_max 1 or more")
        await _waited(verbs, ctx, run, token, role, min(max(wait_seconds, 0.0), WAIT_MAX))
        return _run(
            lambda: page("next", verbs.next(run, role, token, brief_from, brief_max), limit, after),
            verbs.runs / run,
        )

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
        accepted again. `context_id` (c1, c2, …) names your conversation; one conversation holds one role."""
        return _run(lambda: verbs.submit(run, step, reply, token, model, context_id), verbs.runs / run)

    def give_up(run: str, step: str, reason: str, token: str) -> Any:
        """Give an open step up for good, when its agent is gone; the run goes on without it. Operator only."""
        return _run(lambda: verbs.give_up(run, step, reason, token), verbs.runs / run)

    def status(run: str) -> Any:
        """Where a run stands: round, phase, open steps, whether it is finished or held up. Nothing that a seat
        must not see."""
        return _run(lambda: verbs.status(run), verbs.runs / run)

    _tool(server, result_of("next"), next)
    _tool(server, result_of("submit"), submit)
    _tool(server, result_of("submit"), give_up)
    _tool(server, PublicStatus, status)


async def _waited(
    verbs: Verbs, ctx: Context[Any, Any], run: str, token: str, role: str | None, seconds: float
) -> None:
    """Return when there is something for the seat, or the time is over; a cancelled call ends here."""
    began = told = time.monotonic()
    try:
        session = verbs.session(run)
        seat = verbs.rights.check("next", session.inner, token, role)
        seen, news = session.inner.run.head(), verbs.has_news(session, seat)
        while not news and time.monotonic() - began < seconds:
            await anyio.sleep(POLL_SECONDS)
            if (
                head := session.inner.run.head()
            ) != seen:  # the run is read again only when somebody committed
                seen, news = head, verbs.has_news(session, seat)
            if time.monotonic() - told > PROGRESS_SECONDS:
                told = time.monotonic()
                await ctx.report_progress(told - began, seconds, "others are thinking")
    except Exception as error:  # noqa: BLE001
        raise ToolError(_said(error, verbs.runs / run)) from None


def _add_reading(server: MCPServer[Any], verbs: Verbs) -> None:
    def reading(door: str, result: type[Result], does: str, act: Callable[[Run], Result]) -> None:
        def read(run: str, token: str | None = None, limit: int | None = None, after: int = 0) -> Any:
            return _run(lambda: page(door, verbs.read(door, run, token, act), limit, after), verbs.runs / run)

        read.__name__ = door
        read.__doc__ = f"{does} {PAGED} While the run is open: operator only."
        _tool(server, result, read)

    reading("claims", result_of("claims"), "Claims with their lifecycles.", read_claims)
    reading(
        "decisions",
        result_of("decisions"),
        "Decisions: what they rest on, how they stand, what would show them wrong.",
        read_decisions,
    )
    reading(
        "check", result_of("check"), "Every rule that the ledger breaks; `ok` means no error.", moot.check
    )
    reading(
        "signals",
        result_of("signals"),
        "The stop signals, gates and alarms of a structured run, with the advice.",
        moot.signals,
    )
    reading(
        "forecasts",
        result_of("signals-crux"),
        "The forecasts of a crux run over its rounds, and what a test of each crux is worth.",
        read_forecasts,
    )
    reading(
        "report",
        ReportText,
        "The whole run as one Markdown document; `limit` and `after` count characters.",
        lambda run: ReportText(run="", text=moot.report(run)),
    )

    def log(
        run: str,
        token: str | None = None,
        kind: str | None = None,
        round: int | None = None,
        limit: int | None = None,
        after: int = 0,
    ) -> Any:
        """The events as the ledger holds them, in order; `kind` and `round` choose among them. A long result comes in
        pages: `limit` entries that follow the first `after`. While the run is open: operator only."""
        wanted = EventFilter(kind=kind, round=round)

        def act(ours: Run) -> Log:
            return read_log(ours, listed_events(ours, None, wanted))

        return _run(lambda: page("log", verbs.read("log", run, token, act), limit, after), verbs.runs / run)

    def show(run: str, id: str, token: str | None = None) -> Any:
        """One thing of a run by its id (C-1-4, D-2-1, @41): its words, what became of it, what names it later. While
        the run is open: operator only."""
        return _run(
            lambda: page("show", verbs.read("show", run, token, lambda ours: read_event(ours, id)), None, 0),
            verbs.runs / run,
        )

    def why(run: str, id: str, token: str | None = None, limit: int | None = None, after: int = 0) -> Any:
        """What a decision or a claim rests on, down to quoted words, each thing once. A long result comes in pages:
        `limit` entries that follow the first `after`. While the run is open: operator only."""
        return _run(
            lambda: page(
                "why", verbs.read("why", run, token, lambda ours: read_grounds(ours, id)), limit, after
            ),
            verbs.runs / run,
        )

    def diff(a: str, b: str, token: str | None = None, limit: int | None = None, after: int = 0) -> Any:
        """Two runs compared: claims, lifecycles, decisions, signals, and where they first differ. `limit` and `after`
        count the texts of each run."""
        return _run(
            lambda: page("diff", verbs.diff(a, b, token).model_dump(), limit, after),
            verbs.runs / a,
            verbs.runs / b,
        )

    _tool(server, result_of("log"), log)
    _tool(server, result_of("show"), show)
    _tool(server, result_of("why"), why)
    _tool(server, result_of("diff"), diff)


class PersonSays(BaseModel):
    """What a person is asked for, in the client's own form."""

    answer: str = Field(description="Your answer; it becomes a decision in force.")
    name: str = Field("", description="Who you are, if the record is to say so.")


def _can_ask(ctx: Context[Any, Any]) -> bool:
    """Whether a client is there that can put a form before a person."""
    try:
        can = ctx.client_capabilities
    except ValueError:  # the tool was called in this process, by no client
        return False
    return can is not None and can.elicitation is not None


def _add_people(server: MCPServer[Any], verbs: Verbs) -> None:
    def first(run: str, token: str, ctx: Context[Any, Any]) -> Any:
        def questions() -> tuple[str, ...]:
            session = verbs.opened("ask", run, token)
            if not _can_ask(ctx):
                raise usage(
                    "this client cannot ask a person", "ask the person yourself, then call `answer`", "ask"
                )
            if not session.questions:
                raise usage("the run waits for nobody's answer", "see `status`", "ask")
            return session.questions

        return _refusing(questions, verbs.runs / run)[0]

    def question(run: str, identity: Annotated[str, Resolve(first)]) -> Elicit[PersonSays]:
        text = getattr(verbs.session(run).inner.book().by_id[identity], "text", "")
        return Elicit(f"{identity} of {run}: {text}", PersonSays)

    def ask(run: str, token: str, identity: str, said: ElicitationResult[PersonSays]) -> Any:
        """Put the question that the run waits for to the person at this client, in a form of its own, and write the
        answer down; call it again for the next one. Nothing is written when the person declines, or when the question
        was settled while the form was open. Where the client has no such form it says so: then ask the person
        yourself, and call `answer`. Operator only."""
        if not isinstance(said, AcceptedElicitation):
            return _run(lambda: Act(run=run, events=[]), verbs.runs / run)
        person = said.data

        def act(session: Session) -> Iterable[Event]:
            if identity not in session.questions:
                raise usage(
                    f"the run no longer waits for {identity}: it was settled while the form was open",
                    f"nothing was written; the person said: {person.answer[:2_000]}",
                    "ask",
                )
            return session.answer(identity, person.answer, by=person.name.strip() or None)

        return _run(lambda: verbs.act("ask", run, token, act), verbs.runs / run)

    # The form's question and the answer belong together: the id is settled once, before the form is shown.
    ask.__annotations__["identity"] = question.__annotations__["identity"] = Annotated[str, Resolve(first)]
    ask.__annotations__["said"] = Annotated[ElicitationResult[PersonSays], Resolve(question)]

    def answer(
        run: str,
        question: str,
        text: str,
        token: str,
        result: Literal["holds", "fails"] | None = None,
        output: str | None = None,
        by: str | None = None,
    ) -> Any:
        """The person's answer to a question (N-1-2). Ask the person; never answer yourself. `result`: the person
        tested the claim that the question is about, and it holds or fails; then a claim (C-1-2) can be named too.
        `output`: what the test produced. `by`: the person's name, if they gave it. Operator only, before and after
        the end."""
        content = None if output is None else output.encode()
        return acted(
            "answer", run, token, lambda it: it.answer(question, text, by=by, result=result, output=content)
        )

    def override(run: str, target: str, text: str, token: str, by: str | None = None) -> Any:
        """The person overturns a decision (D-1-1), a ruling or a screening (@SEQ). Operator only, before and after
        the end."""
        return acted("override", run, token, lambda it: it.override(target, text, by=by))

    def ack(run: str, alarm: str, text: str, token: str, by: str | None = None) -> Any:
        """The person closes an open alarm (FM-1 or @SEQ), with the reason. Operator only, before and after the end."""
        return acted("ack", run, token, lambda it: it.ack(alarm, text, by=by))

    def note(run: str, text: str, token: str, by: str | None = None) -> Any:
        """Put the person's remark on the ledger; no brief shows it. Operator only, before and after the end."""
        return acted("note", run, token, lambda it: it.note(text, by=by))

    def acted(door: str, run: str, token: str, act: Callable[[Session], Iterable[Event]]) -> CallToolResult:
        return _run(lambda: verbs.act(door, run, token, act), verbs.runs / run)

    def fork(
        run: str, token: str, round: int | None = None, without: str | None = None, here: bool = False
    ) -> Any:
        """A new run that shares everything before a round, and goes on without a role or simply again; with `here`
        it shares everything so far, so that two answers can be tried. Operator only, before and after the end;
        returns the tokens of the new run."""
        return _run(lambda: verbs.fork(run, round, without, token, here=here), verbs.runs / run)

    for act in (answer, override, ack, note, ask):
        _tool(server, result_of("note"), act)
    _tool(server, Opened, fork)


def _add_resources(server: MCPServer[Any], verbs: Verbs) -> None:
    @server.resource("moot://runs", name="runs", mime_type="text/plain", description="The runs, one a line.")
    def runs() -> str:
        return "\n".join(sorted(path.parent.name for path in verbs.runs.glob("*/head")))

    @server.resource(
        "moot://runs/{run}/briefs/{step}",
        name="brief",
        mime_type="text/plain",
        description="The brief of a step of a finished run.",
    )
    def brief(run: str, step: str) -> str:
        try:
            return verbs.brief(run, step)
        except Exception as error:  # noqa: BLE001
            raise ResourceError(_said(error, verbs.runs / run)) from None


def _add_prompts(server: MCPServer[Any]) -> None:
    for stage in STAGES:
        server.prompt(name=stage.name, title=stage.title, description=stage.does)(stage.speaker())
