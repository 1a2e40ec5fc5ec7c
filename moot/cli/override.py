"""`moot override`: overturn a decision or a ruling."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.app.acts import add
from moot.cli.options import JsonOption, QuietOption, RunArgument, TextArgument
from rounds.run import human_actions as people

EPILOG = "Example: moot override @last D-4-1 'One journal, because operations must read it without us.'"


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
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Overturn a decision in force, with what is decided instead and why. The old one stays on the ledger."""
    return add(run, lambda session: people.override(session, target, text), json=json, quiet=quiet)
