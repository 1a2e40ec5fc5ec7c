"""Record what a person adds to a run: `answer`, `override`, `ack`, `note`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from ledger.events import Event
from moot.app.session import Session, names, open_session
from moot.cli.options import ByOption, JsonOption, QuietOption, RunArgument, TextArgument
from moot.environment import git_identity
from moot.errors import GOOD
from moot.terminal.streams import out_json, show
from moot.view.events import event_line
from moot.view.results import Act


def answer(
    run: RunArgument,
    concern: Annotated[str, typer.Argument(metavar="ID", help="The question's or concern's id (N-3-1).")],
    text: TextArgument,
    by: ByOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Answer a question or settle a concern; the answer is a decision in force, and later briefs show it.

    Example: moot answer @last N-3-1 'Yes, a lost acknowledgement is acceptable once a year.'
    """
    return _added(
        run, by, lambda session, name: session.answer(concern, text, by=name), json=json, quiet=quiet
    )


def override(
    run: RunArgument,
    target: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A decision's id (D-4-1), or @SEQ of a ruling or of a screening that holds the run up.",
        ),
    ],
    text: TextArgument,
    by: ByOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Overturn a decision in force, with what is decided instead and why. The old one stays on the ledger.

    Example: moot override @last D-4-1 'One journal, because operations must read it without us.'
    """
    return _added(
        run, by, lambda session, name: session.override(target, text, by=name), json=json, quiet=quiet
    )


def ack(
    run: RunArgument,
    alarm: Annotated[
        str,
        typer.Argument(
            metavar="ALARM", help="The failure mode (FM-1), or @SEQ of the alarm or of the error."
        ),
    ],
    text: TextArgument,
    by: ByOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Close an open alarm; what it had amended ends with it. Or let a run go on that an error of its rules holds up.

    Example: moot ack @last FM-1 'The critic was right to agree: nothing was left to attack.'
    """
    return _added(run, by, lambda session, name: session.ack(alarm, text, by=name), json=json, quiet=quiet)


def note(
    run: RunArgument,
    text: TextArgument,
    by: ByOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Put a remark on the ledger. No brief shows it.

    Example: moot note @last 'R5 was run with a new model for the critic.'
    """
    return _added(run, by, lambda session, name: session.note(text, by=name), json=json, quiet=quiet)


Acted = Callable[[Session, str | None], tuple[Event, ...]]


def _added(run: str, by: str | None, act: Acted, *, json: bool, quiet: bool) -> int:
    """Do `act` on a run and say what it wrote; git says who it is where nobody else does, if the run keeps it."""
    session = open_session(run)
    name = by if by is not None else git_identity() if session.keeps_names else None
    events = act(session, name)
    if json:
        out_json(Act(run=str(session.path), events=names(events)))
    elif not quiet:
        show("".join(f"{event_line(event)}\n" for event in events))
    return GOOD
