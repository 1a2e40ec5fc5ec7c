"""Tools by which a person acts: answers, overrides, remarks, forks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel, Field

from ledger.events import Event
from moot.app.session import Session, names
from moot.errors import usage
from moot.mcp.running_tools import Opened, opened_of
from moot.mcp.tools import Tools
from moot.view.results import Act


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
        yourself, and call `answer`. Operator only."""
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
        the end."""
        content, session = output.encode() if output is not None else None, tools.opened("answer", run, token)
        return _acted(run, session.answer(question, text, by=by, result=result, output=content))

    @tools.tool(Act)
    def override(run: str, target: str, text: str, token: str, by: str | None = None) -> Any:
        """Overturn a decision (D-1-1), a ruling or a screening (@SEQ), as the person says. Operator only, before and
        after the end."""
        return _acted(run, tools.opened("override", run, token).override(target, text, by=by))

    @tools.tool(Act)
    def ack(run: str, alarm: str, text: str, token: str, by: str | None = None) -> Any:
        """Close an open alarm (FM-1 or @SEQ) for the person, with the reason. Operator only, before and after the
        end."""
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
        returns the tokens of the new run."""
        from moot.app.forks import ForkPoint, made_fork

        path = tools.opened("fork", run, token).path
        forked = made_fork(path, ForkPoint(round, without, here=here), ("host", {}), runs=tools.runs)
        return opened_of(Session(forked.run), tools.rights)
