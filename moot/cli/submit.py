"""`moot submit`: hand in one reply, or give a step up."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ledger.events import Event
from ledger.store.disk import plain_file
from moot.app.sessions import first_result, names, open_now, open_session
from moot.cli.options import TEXT_MAX, UNKEPT, JsonOption, QuietOption, RunArgument
from moot.errors import GOOD, NO, usage
from moot.terminal.streams import err, out_json, show
from moot.view.played import Submission
from moot.view.quorum import finished_exit, headline, outcome_told
from roles.schema import REPLY_BYTES_MAX
from rounds.run.engine import Answer, ReplyRefused, StepRefused
from rounds.run.session import RunSession

CONTEXT_ID = re.compile(r"c[1-9][0-9]*")


def submit(
    run: RunArgument,
    step: Annotated[str, typer.Argument(metavar="STEP", help="The step's id, as `moot next` says it.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The reply's file; - is stdin.")] = "-",
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Which model answered.")] = None,
    context_id: Annotated[
        str | None, typer.Option(metavar="cN", help="Which conversation answered (c1, c2, …): one role each.")
    ] = None,
    give_up: Annotated[
        str | None,
        typer.Option(metavar="REASON", help="Give the step up for good instead; the run goes on without it."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Hand in the reply to an open step: one JSON object that satisfies the step's schema.

    A refused reply writes nothing and may be tried again; the same bytes again are accepted again. Exit code 5 when the
    run is finished and a step of it was given up.

    Example: moot submit @last r3.D.critic reply.json --model some-model-1 --context-id c4
    """
    session = open_session(run)
    if give_up is not None:
        if file != "-" or model is not None or context_id is not None:
            raise usage("a step is answered or given up", "leave out the reply or --give-up", "moot submit")
        events = session.give_up(step, "given_up", _reason(give_up))
        return _accepted(session, events, f"{step} is given up", json, quiet)
    answer = Answer(_seat(session, step), "trusted", model=_name(model), context_id=_context(context_id))
    content = _content(file)
    try:
        done = session.submit(step, content, answer)
    except (ReplyRefused, StepRefused) as refused:
        return _refused(session, refused, json)
    if done.already:
        said = f"{step} was accepted before with these bytes"
        return _accepted(session, first_result(session, step), said, json, quiet)
    return _accepted(session, done.events, f"{step} is accepted", json, quiet)


def _accepted(session: RunSession, events: tuple[Event, ...], said: str, json: bool, quiet: bool) -> int:
    following, state = open_now(session), session.book().state
    outcome = outcome_told(state)
    if json:
        out_json(Submission(accepted=True, events=names(events), errors=[], next=following, outcome=outcome))
    elif not quiet:
        written = f": {', '.join(names(events))}" if events else ""
        show(f"{said}{written}\n")
        first = f"{headline(outcome)}\n" if state.finished else ""
        end = f"{first}the run is {state.life}\n"
        show(f"open now: {', '.join(following) or 'nothing'}\n" if state.life == "running" else end)
    return finished_exit(outcome) if state.finished else GOOD


def _refused(session: RunSession, refused: ReplyRefused | StepRefused, json: bool) -> int:
    if isinstance(refused, StepRefused):
        if not json:
            raise refused
        errors = [f"{refused}; {refused.fix}"]
    else:
        errors = list(refused.errors)
    if json:
        outcome = outcome_told(session.book().state)
        refusal = Submission(
            accepted=False, events=[], errors=errors, next=open_now(session), outcome=outcome
        )
        out_json(refusal)
    else:
        count = f" and {len(errors) - 1} more below" if len(errors) > 1 else ""
        fix = "fix the reply and submit it again; nothing was written"
        err(f"moot: the reply to {refused.step} is refused: {errors[0]}{count}; {fix}\n")
        err("".join(f"  {error}\n" for error in errors[1:]))
    return NO


def _seat(session: RunSession, step: str) -> Literal["human", "host"]:
    """`human` where the opening gave the role to a person, else `host`: whoever calls this verb."""
    role = step.rpartition(".")[2].partition("~")[0]
    kinds = {member.role: member.seat for member in session.opened.cast}
    return "human" if kinds.get(role) == "human" else "host"


def _content(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read(REPLY_BYTES_MAX + 1)  # one more is refused for its length
    with plain_file(Path(file)) as reply:
        return reply.read(REPLY_BYTES_MAX + 1)


def _context(context_id: str | None) -> str | None:
    if context_id is not None and not CONTEXT_ID.fullmatch(context_id):
        raise usage(
            f"no context id {context_id!r}",
            "name conversations c1, c2, …, without names or paths",
            "--context-id",
        )
    return context_id


def _name(model: str | None) -> str | None:
    if model is not None and not (0 < len(model.strip()) <= 200 and model.isprintable()):
        raise usage(
            "a model's name is 1 to 200 printable characters",
            "give its name, such as some-model-1",
            "--model",
        )
    return model


def _reason(text: str) -> str:
    if not text.strip() or text.startswith("-"):  # the next option, taken for the reason that was left out
        raise usage(
            "giving up needs a reason", "say in a few words why the step cannot be answered", "--give-up"
        )
    if UNKEPT.search(text) or len(text) > TEXT_MAX:
        raise usage(
            "a reason that no ledger keeps",
            f"give at most {TEXT_MAX} characters, no control characters",
            "--give-up",
        )
    return text
