"""Tools on a run: each verb that reads it, in pages, and what a person does: answers, overrides, remarks, forks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from msgspec.structs import replace
from pydantic import BaseModel, Field

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
from moot.app.runs import Run
from moot.app.session import Session, names
from moot.errors import usage
from moot.mcp.seat_tools import Opened, opened_of
from moot.mcp.tools import Tools
from moot.output_schemas import result_of
from moot.view.results import Act


class ReportText(Result, frozen=True):
    """A document."""

    run: str
    text: str


Reading = Callable[[Run], Result]

READINGS: Final[Mapping[str, tuple[type[Result], str, Reading]]] = {
    "claims": (result_of("claims"), "Claims with their lifecycles.", read_claims),
    "decisions": (
        result_of("decisions"),
        "Decisions: what they rest on, how they stand, what would show them wrong.",
        read_decisions,
    ),
    "check": (result_of("check"), "Every rule that the ledger breaks; `ok` means no error.", moot.check),
    "signals": (
        result_of("signals"),
        "The stop signals, gates and alarms of a structured run, with the advice.",
        moot.signals,
    ),
    "forecasts": (
        result_of("signals-crux"),
        "The forecasts of a crux run over its rounds, and what a test of each crux is worth.",
        read_forecasts,
    ),
    "report": (
        ReportText,
        "The whole run as one Markdown document; `limit` and `after` count characters.",
        lambda run: ReportText(run="", text=moot.report(run)),
    ),
}
"""Tool without arguments of its own → its result, what it returns in words, and the verb."""
PAGED: Final = "A long result comes in pages: `limit` entries that follow the first `after`."


def add_reading_tools(tools: Tools) -> None:
    """Register the tools."""

    def reading(door: str, run: str, token: str | None, act: Reading) -> Result:
        # The run's name as the caller knows it, and no path of this machine.
        return replace(act(moot.open_run(tools.opened(door, run, token).path)), run=run)

    def add(door: str, result: type[Result], does: str, act: Reading) -> None:
        def read(run: str, token: str | None = None) -> Any:
            return reading(door, run, token, act)

        # The SDK names a tool after its function, and takes its description from the docstring.
        read.__name__ = door
        read.__doc__ = f"{does} {PAGED} While the run is open: operator only."
        tools.tool(result)(read)

    for door, row in READINGS.items():
        add(door, *row)

    @tools.tool(result_of("log"))
    def log(
        run: str,
        token: str | None = None,
        kind: str | None = None,
        round: int | None = None,
    ) -> Any:
        """Return the events in order, with all fields that this version knows; `kind` and `round` choose among them.
        A long result comes in pages: `limit` entries that follow the first `after`. While the run is open: operator
        only.
        """
        # Only filters and no id here: `show` returns single events.
        wanted = EventFilter(kind=kind, round=round)
        return reading("log", run, token, lambda ours: read_log(ours, listed_events(ours, None, wanted)))

    @tools.tool(result_of("show"))
    def show(run: str, id: str, token: str | None = None) -> Any:
        """Return one thing of a run by its id (C-1-4, D-2-1, @41): its words, what became of it, what names it later.
        While the run is open: operator only.
        """
        return reading("show", run, token, lambda ours: read_event(ours, id))

    @tools.tool(result_of("why"))
    def why(run: str, id: str, token: str | None = None) -> Any:
        """Return what a decision or a claim rests on, down to quoted words, each thing once. A long result comes in
        pages: `limit` entries that follow the first `after`. While the run is open: operator only.
        """
        return reading("why", run, token, lambda ours: read_grounds(ours, id))

    @tools.tool(result_of("diff"))
    def diff(a: str, b: str, token: str | None = None) -> Any:
        """Compare two runs: claims, lifecycles, decisions, signals, and where they first differ. `limit` and `after`
        count the texts of each run.
        """
        sessions = [tools.session(a), tools.session(b)]
        theirs = [session for session in sessions if tools.rights.is_of(session.inner, token)]
        for session in sessions:
            # A token of one run says nothing about the other run, so it is not refused there.
            tools.rights.check("diff", session.inner, None if theirs and session not in theirs else token)
        return moot.diff(tools.runs / a, tools.runs / b)


class PersonSays(BaseModel):
    """What a person is asked for, in the client's own form."""

    answer: str = Field(description="Your answer; it becomes a decision in force.")
    name: str = Field("", description="Who you are, if the record is to say so.")


def _can_ask(ctx: Context[Any, Any]) -> bool:
    """Return whether a client is connected that can show a form to a person."""
    try:
        can = ctx.client_capabilities
    except ValueError:  # the tool was called in this process, by no client
        return False
    return can is not None and can.elicitation is not None


def _acted(run: str, events: Iterable[Event]) -> Act:
    return Act(run=run, events=names(events))


def add_people_tools(tools: Tools) -> None:
    """Register the tools."""

    def first(run: str, token: str, ctx: Context[Any, Any]) -> Any:
        with tools.refusing(run):
            session = tools.opened("ask", run, token)
            if not _can_ask(ctx):
                raise usage(
                    "this client cannot ask a person", "ask the person yourself, then call `answer`", "ask"
                )
            if not session.questions:
                raise usage("the run waits for nobody's answer", "see `status`", "ask")
            return session.questions[0]

    def question(run: str, identity: Annotated[str, Resolve(first)]) -> Elicit[PersonSays]:
        text = getattr(tools.session(run).inner.book().by_id[identity], "text", "")
        return Elicit(f"{identity} of {run}: {text}", PersonSays)

    def ask(run: str, token: str, identity: str, form: ElicitationResult[PersonSays]) -> Any:
        """Put the question that the run waits for to the person at this client, in a form of its own, and write the
        answer down; call it again for the next one. Nothing is written when the person declines, or when the question
        was settled while the form was open. Where the client has no such form it says so: then ask the person
        yourself, and call `answer`. Operator only.
        """
        if not isinstance(form, AcceptedElicitation):
            return Act(run=run, events=[])
        session, person = tools.opened("ask", run, token), form.data
        # A form may stay open for hours, and another client may answer meanwhile: the second answer must not pass
        # unseen.
        if identity not in session.questions:
            raise usage(
                f"the run no longer waits for {identity}: it was settled while the form was open",
                f"nothing was written; the person said: {person.answer[:2_000]}",
                "ask",
            )
        return _acted(run, session.answer(identity, person.answer, by=person.name.strip() or None))

    # The form's question and the answer belong together: the id is settled once, before the form is shown.
    ask.__annotations__["identity"] = question.__annotations__["identity"] = Annotated[str, Resolve(first)]
    ask.__annotations__["form"] = Annotated[ElicitationResult[PersonSays], Resolve(question)]

    @tools.tool(Act)
    def answer(
        run: str,
        question: str,
        text: str,
        token: str,
        result: Literal["holds", "fails"] | None = None,
        output: str | None = None,
        by: str | None = None,
    ) -> Any:
        """Hand in the person's answer to a question (N-1-2). Ask the person; never answer yourself. `result`: the
        person tested the claim that the question is about, and it holds or fails; then a claim (C-1-2) can be named
        too. `output`: what the test produced. `by`: the person's name, if they gave it. Operator only, before and after
        the end.
        """
        content, session = output.encode() if output is not None else None, tools.opened("answer", run, token)
        return _acted(run, session.answer(question, text, by=by, result=result, output=content))

    @tools.tool(Act)
    def override(run: str, target: str, text: str, token: str, by: str | None = None) -> Any:
        """Overturn a decision (D-1-1), a ruling or a screening (@SEQ), as the person says. Operator only, before and
        after the end.
        """
        return _acted(run, tools.opened("override", run, token).override(target, text, by=by))

    @tools.tool(Act)
    def ack(run: str, alarm: str, text: str, token: str, by: str | None = None) -> Any:
        """Close an open alarm (FM-1 or @SEQ) for the person, with the reason. Operator only, before and after the
        end.
        """
        return _acted(run, tools.opened("ack", run, token).ack(alarm, text, by=by))

    @tools.tool(Act)
    def note(run: str, text: str, token: str, by: str | None = None) -> Any:
        """Put the person's remark on the ledger; no brief shows it. Operator only, before and after the end."""
        return _acted(run, tools.opened("note", run, token).note(text, by=by))

    tools.tool(Act)(ask)

    @tools.tool(Opened)
    def fork(
        run: str, token: str, round: int | None = None, without: str | None = None, here: bool = False
    ) -> Any:
        """Make a new run that shares everything before a round, and goes on without a role or simply again; with `here`
        it shares everything so far, so that two answers can be tried. Operator only, before and after the end;
        returns the tokens of the new run.
        """
        from moot.app.forks import ForkPoint, made_fork

        path = tools.opened("fork", run, token).path
        forked = made_fork(path, ForkPoint(round, without, here=here), ("host", {}), runs=tools.runs)
        return opened_of(Session(forked.run), tools.rights)
