"""`moot report`: the whole run as one document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import moot
from moot.api import open_run
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import GOOD
from moot.locate import find_run
from moot.output.report import ReportDocument
from moot.terminal import out, out_json

EPILOG = "Example: moot report @last --out report.md"


def report(
    run: RunArgument,
    file: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write it there, not to stdout.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Write a run down as Markdown: what was decided and on what it rests, rounds, claims, signals, retrospective."""
    from moot.render.report import report as written
    from moot.render.telling import tell

    ours = open_run(find_run(run))
    text = written(tell(ours.book), moot.signals(ours), ours.head)
    if file is not None:
        Path(file).write_text(text, "utf-8")
    if json:
        shown = text if file is None else None
        head = ours.head.hash
        out_json(ReportDocument(run=str(ours.path), format="markdown", head=head, out=file, text=shown))
    elif file is None:
        out(text)
    elif not quiet:
        out(f"written to {file}\n")
    return GOOD
