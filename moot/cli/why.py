"""`moot why` and `moot show`: what one thing rests on, and the thing itself."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger.events import Event
from moot.api import Run, open_run
from moot.app.runs import LAST, find_run
from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD, usage
from moot.terminal.streams import columns, out_json
from moot.terminal.streams import show as show_out

First = Annotated[str, typer.Argument(metavar="[RUN]", help="The run; without it the last one.")]
Second = Annotated[str | None, typer.Argument(metavar="ID", help="An id of the run, such as D-2-1, or @SEQ.")]


def why(
    run: First,
    identity: Second = None,
    everything: Annotated[bool, typer.Option("--all", help="To the bottom, with every quote.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Say what a decision or a claim rests on, down to quoted words, each thing once.

    Example: moot why @last D-2-1
    """
    from moot.view.why import why_of, why_text

    ours, event = _named(run, identity)
    found = why_of(str(ours.path), ours.book, event.id or f"@{event.seq}", everything=everything)
    if json:
        out_json(found)
    elif not quiet:
        show_out(why_text(found, columns(), everything=everything))
    return GOOD


def show(run: First, identity: Second = None, json: JsonOption = False, quiet: QuietOption = False) -> int:
    """Show one thing of a run: its words, what became of it, and what names it later.

    Example: moot show @last C-1-4
    """
    from moot.view.show import show_of, show_text

    ours, event = _named(run, identity)
    found = show_of(str(ours.path), ours.book, event)
    if json:
        out_json(found)
    elif not quiet:
        show_out(show_text(found, columns()))
    return GOOD


def _named(first: str, second: str | None) -> tuple[Run, Event]:
    """The run and its event; with one word alone it is an id of the last run."""
    run, said = (LAST, first) if second is None else (first, second)
    ours = open_run(find_run(run))
    identity = said.partition("#")[0]
    for event in ours.events:
        if identity in (event.id, f"@{event.seq}"):
            return ours, event
    raise usage(f"no event {said!r} in this run", f"`moot log {run}` lists them", "ID")
