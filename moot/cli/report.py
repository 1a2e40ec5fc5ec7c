"""`moot report`: the whole run as one document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from moot.api import Run, open_run
from moot.api import report as markdown
from moot.app.documents import write_document
from moot.app.runs import find_run
from moot.cli.options import JsonOption, NoPagerOption, QuietOption, RunArgument
from moot.errors import GOOD, usage
from moot.terminal import streams
from moot.terminal.paging import page as paged
from moot.terminal.streams import out, out_json
from moot.view.report import Form
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
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Write a run down on three pages: its outcome, what was decided, rounds, claims, signals, retrospective.

    A decision record says `status: proposed` until a person accepts the outcome.

    Example: moot report @last --html report.html
    """
    ours = open_run(find_run(run))
    files = {"--out": file, "--html": html, "--adr": adr}
    named = [option for option, place in files.items() if place is not None]
    # Each option names another form of the document, and only one is written.
    if len(named) > 1 or (full and page) or ((full or page) and (html or adr)):
        raise usage(
            "--out, --html and --adr name one file each, and --full and --page are forms of --out",
            "give one of them",
            "moot report",
        )
    if html is not None:
        write_document(Path(html), _page(ours).encode())
        return _print(ours, "html", html, None, json=json, quiet=quiet)
    form: Form = "full" if full else "page" if page else "pages"
    text = markdown(ours, form=form if adr is None else "adr")
    place = file if adr is None else adr
    if place is not None:
        write_document(Path(place), text.encode())
    return _print(ours, "markdown", place, text, json=json, quiet=quiet, no_pager=no_pager)


def _page(ours: Run) -> str:
    from moot.web.followed import Followed
    from moot.web.report import report_html

    # The HTML report is built from the viewer's own pages, so both always show the same.
    run = Followed(ours.path)
    run.catch_up()
    return report_html(run)


def _print(
    ours: Run,
    form: Literal["markdown", "html"],
    file: str | None,
    text: str | None,
    *,
    json: bool,
    quiet: bool,
    no_pager: bool = False,
) -> int:
    """Print where the report was written, or the report itself."""
    if json:
        # A caller that named a file reads it there: the JSON object stays small.
        content = text if file is None else None
        out_json(ReportDocument(run=str(ours.path), format=form, head=ours.head.hash, out=file, text=content))
    elif quiet:
        return GOOD
    elif file is not None:
        out(f"written to {file}\n")
    # A report in a pipe is data: no folding, no pager.
    elif no_pager or not streams.on_terminal():
        out(text or "")
    else:
        paged(text or "")
    return GOOD
