"""Verbs that write documents: `report`, and `import` and `export` for other systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import moot
from ledger.interchange.formats import EXPORTERS, READERS, export_run
from moot.api import Run, open_run, report as markdown
from moot.app.inputs import write_document
from moot.app.runs import find_run
from moot.cli.command import NoPagerOption, RunArgument, VerbResult
from moot.documents import Form
from moot.errors import GOOD, NO, refuse
from moot.terminal import streams
from moot.terminal.streams import out, page as paged
from moot.view.findings import export_text, import_text
from moot.view.results import ReportDocument


def report(
    run: RunArgument,
    file: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write it there, not to stdout.")
    ] = None,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write it as one HTML file that can be mailed."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="With the record: every event with its words, once.")
    ] = False,
    page: Annotated[
        bool,
        typer.Option(
            "--page",
            help="One page to hand on: the outcome and its protocol's tables, such as a debate's briefing and trace.",
        ),
    ] = False,
    adr: Annotated[
        str | None,
        typer.Option("--adr", metavar="FILE", help="Write a decision record (MADR 4)."),
    ] = None,
    no_pager: NoPagerOption = False,
) -> VerbResult:
    """Write a run down on three pages: its outcome, what was decided, rounds, claims, signals, retrospective.

    A decision record says `status: proposed` until a person accepts the outcome.

    Example: moot report @last --html report.html
    """
    ours = open_run(find_run(run))
    named = [place for place in (file, html, adr) if place is not None]
    # Each option names another form of the document, and only one is written.
    refuse(
        len(named) > 1 or (full and page) or ((full or page) and (html or adr)),
        "--out, --html and --adr name one file each, and --full and --page are forms of --out",
        "give one of them",
        "moot report",
    )
    form: Form = "adr" if adr is not None else "full" if full else "page" if page else "pages"
    text = markdown(ours, form=form) if html is None else _html(ours)
    place = named[0] if named else None
    if place is not None:
        write_document(Path(place), text.encode())
    result = ReportDocument(
        run=str(ours.path),
        format="markdown" if html is None else "html",
        head=ours.head.hash,
        out=place,
        # A caller that named a file reads it there: the JSON object stays small.
        text=text if place is None else None,
    )
    if place is not None:
        return VerbResult(result, lambda: f"written to {place}\n", write=out)
    # A report in a pipe is data: no folding, no pager.
    return VerbResult(result, lambda: text, write=out if no_pager or not streams.on_terminal() else paged)


def _html(ours: Run) -> str:
    from moot.web.report import report_html

    # The HTML report is built from the viewer's own pages, so both always show the same.
    return report_html(ours)


def import_(
    format: Annotated[str, typer.Argument(metavar="FORMAT", help=f"{' or '.join(READERS)}.")],
    src: Annotated[str, typer.Argument(metavar="SRC", help="The file or directory to read.")],
    directory: Annotated[str, typer.Option("--out", metavar="RUN", help="The directory of the new run.")],
) -> VerbResult:
    """Make a run from another system's files. Bad lines are named, and then nothing is written (exit code 1).

    Example: moot import skill path/to/state --out runs/imported
    """
    # Checked here, so that the error names the argument and not a file inside a reader.
    refuse(not Path(src).exists(), f"nothing at {src!r}", "name the file or directory to import", "SRC")
    report = moot.import_run(format, src, directory)
    # --quiet hides success only: bad lines are the reason why nothing was written.
    code = GOOD if report.ok else NO
    return VerbResult(report, lambda: import_text(report), code, insists=not report.ok)


def export(
    run: RunArgument,
    directory: Annotated[str, typer.Argument(metavar="DIR", help="A new or empty directory.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"{', '.join(EXPORTERS)}.")],
) -> VerbResult:
    """Write a run's files in another form into a new directory.

    Example: moot export @last --to skill exported/
    """
    report = export_run(open_run(find_run(run)).book, to, directory)
    return VerbResult(report, lambda: export_text(report))
