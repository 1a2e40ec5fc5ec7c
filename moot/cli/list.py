"""`moot list`: the runs with their answers."""

from __future__ import annotations

from typing import Annotated

import typer

import moot
from moot.cli.options import JsonOption, NoPagerOption, QuietOption
from moot.errors import GOOD
from moot.terminal.paging import page
from moot.terminal.streams import columns, out_json
from moot.view.listing import list_text


def list(
    directory: Annotated[
        str | None, typer.Argument(metavar="[DIR]", help="A directory of runs; ./runs if not said.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="All of them, not the last twenty alone.")] = False,
    no_pager: NoPagerOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """List the runs, the last committed first: what each was asked, what it answers, where it stands.

    Example: moot list runs/examples --all
    """
    listing = moot.list_runs(directory, at_most=None if all else 20)
    if json:
        out_json(listing)
    elif not quiet:
        page(list_text(listing, columns()), ask=not no_pager)
    return GOOD
