"""`moot status` (also `moot show`): where a run stands, or one thing of it."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.api import open_run
from moot.app.runs import LAST, find_run
from moot.cli.options import (
    ID_HELP,
    RUN_OR_ID_HELP,
    JsonOption,
    QuietOption,
    run_names,
    split_names,
)
from moot.errors import GOOD
from moot.terminal.streams import columns, out_json, show, show_outcome
from moot.view.outcome_text import outcome_first
from moot.view.status import status_of, status_text


def status(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help=RUN_OR_ID_HELP, autocompletion=run_names)
    ] = LAST,
    identity: Annotated[str | None, typer.Argument(metavar="[ID]", help=ID_HELP)] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show where a run stands: outcome, round and phase, leads, cost, the stop checks as they read now.

    With an ID, show that one thing: its words, what became of it, and what names it later. `moot show` does the same.

    Example: moot status @last C-1-4
    """
    # `moot status C-1-4` means an event of the last run, as `moot why` and `moot show` read it.
    where, name = split_names(run, identity)
    if name is not None:
        return _one_thing(where, name, json=json, quiet=quiet)
    view = open_run(find_run(where)).view
    if json:
        out_json(status_of(view.name, view.book, view.signals, view.outcome, view.beyond))
    elif not quiet:
        show_outcome(outcome_first(view.outcome, view.quorum, view.name, columns()), view.outcome.status)
        show(status_text(view.name, view.book.state, view.signals, view.beyond))
    return GOOD


def _one_thing(run: str, identity: str, *, json: bool, quiet: bool) -> int:
    from moot.app.readings import read_event
    from moot.view.show import show_text

    thing = read_event(open_run(find_run(run)), identity)
    if json:
        out_json(thing)
    elif not quiet:
        show(show_text(thing, columns()))
    return GOOD
