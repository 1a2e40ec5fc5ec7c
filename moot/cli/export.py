"""`moot export`: write a run in another system's form."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger.interchange.exports import EXPORTERS, export_run
from moot.api import open_run
from moot.app.locate import find_run
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import GOOD
from moot.terminal.streams import out_json, show
from moot.view.exchanged import export_text

EPILOG = "Example: moot export @last --to skill exported/"


def export(
    run: RunArgument,
    directory: Annotated[str, typer.Argument(metavar="DIR", help="A new or empty directory.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"{', '.join(EXPORTERS)}.")],
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Write a run's files in another form into a new directory."""
    ours = open_run(find_run(run))
    report = export_run(ours.book, to, directory)
    if json:
        out_json(report)
    elif not quiet:
        show(export_text(report))
    return GOOD
