"""`moot import`: make a run from another system's files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import moot
from ledger.interchange.imports import READERS, UnknownFormat
from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD, NO, usage
from moot.render.exchanged import import_text
from moot.terminal import out_json, show

EPILOG = "Example: moot import skill path/to/state --out runs/imported"


def import_(
    format: Annotated[str, typer.Argument(metavar="FORMAT", help=f"{' or '.join(READERS)}.")],
    src: Annotated[str, typer.Argument(metavar="SRC", help="The file or directory to read.")],
    directory: Annotated[str, typer.Option("--out", metavar="RUN", help="The directory of the new run.")],
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Make a run from another system's files. Bad lines are named, and then nothing is written (exit code 1)."""
    if not Path(src).exists():
        raise usage(f"nothing at {src!r}", "name the file or directory to import", "SRC")
    try:
        report = moot.import_run(format, src, directory)
    except UnknownFormat as error:
        raise usage(str(error), f"known are {', '.join(READERS)}", "FORMAT") from None
    if json:
        out_json(report)
    elif not quiet or not report.ok:
        show(import_text(report))
    return GOOD if report.ok else NO
