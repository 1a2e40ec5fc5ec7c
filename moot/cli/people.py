"""Record what a person adds to a run: `answer`, `override`, `ack`, `note`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from ledger.events import Event
from ledger.events.values import TestResult
from ledger.store.disk import read_plain
from moot.app.session import Session, names, open_session
from moot.cli.options import ByOption, JsonOption, QuietOption, RunArgument, TextArgument
from moot.environment import git_identity
from moot.errors import GOOD, usage
from moot.terminal.streams import out_json, show
from moot.view.event_lines import event_line
from moot.view.results import Act

OUTPUT_BYTES_MAX: Final = 8 << 20


def answer(
    run: RunArgument,
    question: Annotated[
        str, typer.Argument(metavar="ID", help="The question's id (N-1-6), or a claim's (C-1-2).")
    ],
    text: TextArgument,
    holds: Annotated[bool, typer.Option("--holds", help="You tested the claim, and it holds.")] = False,
    fails: Annotated[bool, typer.Option("--fails", help="You tested the claim, and it fails.")] = False,
    file: Annotated[
        Path | None, typer.Option(metavar="OUTPUT", help="What your test produced; kept with the run.")
    ] = None,
    by: ByOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Answer a question, or hand in the result of a test.

    With --holds or --fails the answer settles the claim that the question tests: in crux every forecast is updated, and
    the memo is written again if the leader or the status changes. Without either it is context, which later prompts
    show.

    Example: moot answer @last N-1-6 --holds 'Restored last night: 2 h 10 min' --file restore.log
    """
    if holds and fails:
        raise usage("--holds and --fails exclude each other", "say one of them", "moot answer")
    # Two flags instead of a value: a typo in a value would be caught only after the answer was typed.
    result: TestResult | None = "holds" if holds else "fails" if fails else None
    if file is not None and result is None:
        raise usage("--file is the output of a test", "add --holds or --fails", "--file")
    # Read before anything is written, so that a missing file leaves the ledger untouched.
    output = None if file is None else read_plain(file, OUTPUT_BYTES_MAX)
    return _added(
        run,
        by,
        # A lambda, so that the run is opened and the person named in one place for all four verbs.
        lambda session, name: session.answer(question, text, by=name, result=result, output=output),
        json=json,
        quiet=quiet,
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
    """Do `act` on a run and print what it wrote; without --by, git's user.name is the person."""
    session = open_session(run)
    # git's name saves typing --by every time; a run that keeps no names drops it.
    name = git_identity() if by is None else by
    events = act(session, name)
    if json:
        out_json(Act(run=str(session.path), events=names(events)))
    elif not quiet:
        show("".join(f"{event_line(event)}\n" for event in events))
    return GOOD
