"""`moot decisions`: decisions with what they rest on."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.api import open_run
from moot.app.readings import read_decisions
from moot.app.runs import find_run
from moot.cli.options import JsonOption, NoPagerOption, QuietOption, RunArgument
from moot.errors import GOOD
from moot.terminal.paging import page
from moot.terminal.streams import columns, out_json
from moot.view.decisions import decisions_text
from moot.view.labels import beside_outcome
from moot.view.outcome_text import outcome_first


def decisions(
    run: RunArgument,
    final: Annotated[bool, typer.Option("--final", help="Only final ones, and what overrides them.")] = False,
    in_force: Annotated[
        bool, typer.Option("--in-force", help="Only those that no later decision ended.")
    ] = False,
    no_pager: NoPagerOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """List the decisions: what each rests on, how that stands now, what would show it wrong.

    Example: moot decisions @last --final --in-force
    """
    ours = open_run(find_run(run))
    listing = read_decisions(ours, final=final, in_force=in_force)
    if json:
        out_json(listing)
    elif not quiet:
        first = outcome_first(listing.outcome, listing.quorum, str(ours.path), columns())
        page(first + decisions_text(listing, beside_outcome(ours.book.state), columns()), ask=not no_pager)
    return GOOD
