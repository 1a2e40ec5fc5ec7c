"""`moot decisions`: decisions with what they rest on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moot.api import open_run
from moot.app.runs import find_run
from moot.cli.options import JsonOption, NoPagerOption, QuietOption, RunArgument
from moot.errors import GOOD, NO
from moot.terminal.paging import page
from moot.terminal.streams import columns, out_json, show
from moot.view.banners import beside_outcome
from moot.view.decisions import decisions_of, decisions_text
from moot.view.outcome_text import outcome_first
from moot.view.records import records_text


def decisions(
    run: RunArgument,
    final: Annotated[bool, typer.Option("--final", help="Only final ones, and what overrides them.")] = False,
    in_force: Annotated[
        bool, typer.Option("--in-force", help="Only those that no later decision ended.")
    ] = False,
    adr_check: Annotated[
        bool,
        typer.Option(
            "--adr-check", help="RUN is a directory of decision records: what they rest on that has changed."
        ),
    ] = False,
    no_pager: NoPagerOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """List the decisions: what each rests on, how that stands now, what would show it wrong.

    With --adr-check exit code 1 when a run is gone or not what it was, when a decision was overturned, has fallen or
    failed, or when a document here differs from the one that the run was given.

    Example: moot decisions @last --final --in-force
    """
    if adr_check:
        return _checked(Path(run), json=json, quiet=quiet)
    ours = open_run(find_run(run))
    found = decisions_of(str(ours.path), ours.book, final=final, in_force=in_force)
    if json:
        out_json(found)
    elif not quiet:
        first = outcome_first(found.outcome, found.quorum, str(ours.path), columns())
        page(first + decisions_text(found, beside_outcome(ours.book.state), columns()), ask=not no_pager)
    return GOOD


def _checked(directory: Path, *, json: bool, quiet: bool) -> int:
    from moot.app.records import checked_records

    found = checked_records(directory, Path())
    if json:
        out_json(found)
    elif not quiet:
        show(records_text(found))
    return GOOD if found.ok else NO
