"""The server: the verbs as typed tools, runs as resources, the five stages of setting up as prompts (SD-20).

Waiting is polled and can be cancelled; progress is reported where the client asks for it. No sampling is needed: a
host's own agents answer through `next` and `submit`. A person is asked by elicitation where the client has it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError

import moot
from moot.mcp.pages import page
from moot.mcp.people_tools import add_people_tools
from moot.mcp.prompts import STAGES
from moot.mcp.reading_tools import add_reading_tools
from moot.mcp.rights import rights_in
from moot.mcp.tools import register, result_or_refusal, words_of
from moot.mcp.verbs import WAIT_MAX, Opened, PublicStatus, Verbs
from moot.mcp.wire import Server
from moot.output_schemas import result_of

INSTRUCTIONS: Final = (
    "moot runs deliberations between your agents and keeps every act in a ledger. Open a run with `new`; "
    "it returns a token for every seat and one for yourself, the operator. Give each agent one role, its "
    "token and nothing else: it calls `next` with wait_seconds, answers the brief with one JSON object, "
    "and calls `submit`. One conversation holds one role. Read `claims`, `decisions`, `signals` and "
    "`check` with the operator's token; never show them to a seat while the run is open."
)
POLL_SECONDS: Final = 0.25
PROGRESS_SECONDS: Final = 5.0


def build(runs: Path) -> MCPServer[Any]:
    """Return the server over the runs below a directory."""
    verbs = Verbs(runs, rights_in(runs))
    # The SDK logs every request at INFO, which would fill the host's log.
    server = Server("moot", instructions=INSTRUCTIONS, version=moot.version(), log_level="WARNING")
    _add_tools(server, verbs)
    _add_resources(server, verbs)
    _add_prompts(server)
    return server


def _add_tools(server: MCPServer[Any], verbs: Verbs) -> None:
    _add_set_up(server, verbs)
    _add_seats(server, verbs)
    add_reading_tools(server, verbs)
    add_people_tools(server, verbs)


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
            # `max_rounds` is a shortcut that agents find more easily than the key of a table.
            "budget": {**(budget or {}), **({"rounds": max_rounds} if max_rounds is not None else {})}
            or None,
            "gate": gate,
            "experiments": experiments,
        }
        return result_or_refusal(
            # Absent keys are left out, so that the defaults of a deliberation file apply.
            lambda: verbs.new({key: value for key, value in tables.items() if value is not None})
        )

    def protocols(limit: int | None = None, after: int = 0) -> Any:
        """The protocols with roles, number of replies, when to use which, and their variants; the plans."""
        return result_or_refusal(lambda: page("protocols", moot.protocols().model_dump(), limit, after))

    def gate(text: str, options: list[str] | None = None) -> Any:
        """Which protocol `new` gives a question that names none, with the reason, replies, price and time, and what
        else would fit. Strong cues in English choose a protocol for its own kind of question, everything else is
        crux."""
        return result_or_refusal(lambda: moot.gate(text, options or []))

    register(server, Opened, new)
    register(server, result_of("protocols"), protocols)
    register(server, result_of("gate"), gate)


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
        # Checked before the waiting: a wrong argument must not cost ten minutes.
        if brief_from < 0 or (brief_max is not None and brief_max < 1):
            raise ToolError("brief_from is 0 or more, brief_max 1 or more")
        # Waiting comes first and holds no lock, so that other calls go on meanwhile.
        await _waited(verbs, ctx, run, token, role, min(max(wait_seconds, 0.0), WAIT_MAX))
        return result_or_refusal(
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
        return result_or_refusal(
            lambda: verbs.submit(run, step, reply, token, model, context_id), verbs.runs / run
        )

    def give_up(run: str, step: str, reason: str, token: str) -> Any:
        """Give an open step up for good, when its agent is gone; the run goes on without it. Operator only."""
        return result_or_refusal(lambda: verbs.give_up(run, step, reason, token), verbs.runs / run)

    def status(run: str) -> Any:
        """Where a run stands: round, phase, open steps, whether it is finished or held up. Nothing that a seat
        must not see."""
        return result_or_refusal(lambda: verbs.status(run), verbs.runs / run)

    register(server, result_of("next"), next)
    register(server, result_of("submit"), submit)
    register(server, result_of("submit"), give_up)
    register(server, PublicStatus, status)


async def _waited(
    verbs: Verbs, ctx: Context[Any, Any], run: str, token: str, role: str | None, seconds: float
) -> None:
    """Wait until there is something for the seat, or the time is over; a cancelled call ends here."""
    began = reported = time.monotonic()
    try:
        session = verbs.session(run)
        # A wrong token is refused at once, and cannot be used to watch when a run moves.
        seat = verbs.rights.check("next", session.inner, token, role)
        seen, news = session.inner.run.head(), verbs.has_news(session, seat)
        while not news and time.monotonic() - began < seconds:
            await anyio.sleep(POLL_SECONDS)
            if (
                head := session.inner.run.head()
            ) != seen:  # the run is read again only when somebody committed
                seen, news = head, verbs.has_news(session, seat)
            if time.monotonic() - reported > PROGRESS_SECONDS:
                reported = time.monotonic()
                await ctx.report_progress(reported - began, seconds, "others are thinking")
    except Exception as error:  # noqa: BLE001
        raise ToolError(words_of(error, verbs.runs / run)) from None


def _add_resources(server: MCPServer[Any], verbs: Verbs) -> None:
    @server.resource("moot://runs", name="runs", mime_type="text/plain", description="The runs, one a line.")
    def runs() -> str:
        # Names only: they hold no word of the question, so any caller may see them.
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
            raise ResourceError(words_of(error, verbs.runs / run)) from None


def _add_prompts(server: MCPServer[Any]) -> None:
    for stage in STAGES:
        server.prompt(name=stage.name, title=stage.title, description=stage.does)(stage.speaker())
