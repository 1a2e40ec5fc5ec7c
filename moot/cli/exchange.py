"""`moot import` and `moot export`: runs of other systems, and a run for them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import moot
from ledger.interchange.formats import EXPORTERS, READERS, export_run
from moot.api import open_run
from moot.app.runs import find_run
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import GOOD, NO, usage
from moot.terminal.streams import err, out_json, show
from moot.view.findings import export_text, import_text


def import_(
    format: Annotated[str, typer.Argument(metavar="FORMAT", help=f"{' or '.join(READERS)}.")],
    src: Annotated[str, typer.Argument(metavar="SRC", help="The file or directory to read.")],
    directory: Annotated[str, typer.Option("--out", metavar="RUN", help="The directory of the new run.")],
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Make a run from another system's files. Bad lines are named, and then nothing is written (exit code 1).

    Example: moot import skill path/to/state --out runs/imported
    """
    # Checked here, so that the error names the argument and not a file inside a reader.
    if not Path(src).exists():
        raise usage(f"nothing at {src!r}", "name the file or directory to import", "SRC")
    report = moot.import_run(format, src, directory)
    if json:
        out_json(report)
    elif not quiet:
        show(import_text(report))
    # --quiet hides success only: bad lines are the reason why nothing was written.
    elif not report.ok:
        err(import_text(report))
    return GOOD if report.ok else NO


def export(
    run: RunArgument,
    directory: Annotated[str, typer.Argument(metavar="DIR", help="A new or empty directory.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"{', '.join(EXPORTERS)}.")],
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Write a run's files in another form into a new directory.

    Example: moot export @last --to skill exported/
    """
    ours = open_run(find_run(run))
    report = export_run(ours.book, to, directory)
    if json:
        out_json(report)
    elif not quiet:
        show(export_text(report))
    return GOOD
