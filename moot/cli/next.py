"""`moot next`: the steps that can run now, with briefs and schemas."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from moot.app.sessions import open_session
from moot.app.waiting import wait_for_news
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import GOOD, WAITING, usage
from moot.terminal.streams import out_json, show
from moot.view.steps import next_of, steps_text
from rounds.run.session import Asked, RunSession

BARE = {"--wait": "600"}
"""What an option means when it is given without its value."""


def next(
    run: RunArgument,
    role: Annotated[str | None, typer.Option(metavar="ROLE", help="Only the steps of this role.")] = None,
    wait: Annotated[
        float | None,
        typer.Option(
            metavar="[SECONDS]", min=0, help="Wait until a step opens, at most so long (600 if not said)."
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Print the steps that can run now: the exact brief for the seat, and the schema of the reply.

    Hand a reply in with `moot submit RUN STEP FILE`. Exit code 4 when no step is open and the run is not finished; a
    stopped run is not waited for.

    Example: moot next @last --role critic --wait 600 --json
    """
    session = open_session(run)
    if session.opened.origin.type == "import":
        raise usage("an import asks nobody", f"go on in a fork: `moot fork {run} --seats host`", run)
    _check_role(session, role)
    session.settle()
    asked = _wait(session, role, wait or 0.0)
    found = next_of(str(session.run.path), session, asked)
    if json:
        out_json(found)
    elif not quiet:
        show(steps_text(found))
    return GOOD if found.steps or found.done else WAITING


def _check_role(session: RunSession, role: str | None) -> None:
    roles = session.protocol.role_ids()
    if role is not None and role not in roles:
        raise usage(f"no role {role!r} in this run", f"roles are {', '.join(roles)}", "--role")


def _wait(session: RunSession, role: str | None, seconds: float) -> tuple[Asked, ...]:
    """The open steps; when there are none, those that open within the time."""
    until = time.monotonic() + seconds
    while not (asked := session.asked(role)) and session.book().state.closing is None:
        if not wait_for_news(session.run, until):
            break
    return asked
