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
        bool,
        typer.Option(
            "--adr",
            help="A decision record as teams keep them (MADR 4); numbered where --out is a directory.",
        ),
    ] = False,
    supersedes: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="With --adr: the record there whose place this one takes."),
    ] = None,
    no_pager: NoPagerOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Write a run down on three pages: its outcome, what was decided, rounds, claims, signals, retrospective.

    With --adr into a directory the record gets the next number, and one that a person's override took the place of says
    so; the same decision again is the same file. `moot decisions DIR --adr-check` says later what has changed.

    Example: moot report @last --html report.html
    """
    ours = open_run(find_run(run))
    forms: tuple[tuple[Form, bool], ...] = (("full", full), ("page", page), ("adr", adr))
    asked: tuple[Form, ...] = tuple(form for form, wanted in forms if wanted)
    if len(asked) > 1 or (asked and html is not None):
        raise usage(
            "--full, --page, --adr and --html contradict each other", "give one of them", "moot report"
        )
    if html is not None:
        if file is not None:
            raise usage("--out is for Markdown, --html for HTML", "give one of them", "moot report")
        write_document(Path(html), _page(ours).encode())
        return _said(ours, "html", html, None, json=json, quiet=quiet)
    if supersedes is not None and not (adr and file is not None and _is_directory(file)):
        raise usage("--supersedes is for a directory of records", "add --adr --out DIR", "--supersedes")
    if adr and file is not None and _is_directory(file):
        from moot.app.records import put_record

        written = str(put_record(ours, Path(file), supersedes))
        return _said(ours, "markdown", written, None, json=json, quiet=quiet)
    text = markdown(ours, form=asked[0] if asked else "pages")
    if file is not None:
        write_document(Path(file), text.encode())
    return _said(ours, "markdown", file, text, json=json, quiet=quiet, no_pager=no_pager)


def _is_directory(file: str) -> bool:
    return file.endswith("/") or Path(file).is_dir()


def _page(ours: Run) -> str:
    from moot.web.followed import Followed
    from moot.web.report import report_html

    run = Followed(ours.path)
    run.catch_up()
    return report_html(run)


def _said(
    ours: Run,
    form: Literal["markdown", "html"],
    file: str | None,
    text: str | None,
    *,
    json: bool,
    quiet: bool,
    no_pager: bool = False,
) -> int:
    """Say where it was written, or the text itself."""
    if json:
        shown = text if file is None else None
        out_json(ReportDocument(run=str(ours.path), format=form, head=ours.head.hash, out=file, text=shown))
    elif quiet:
        return GOOD
    elif file is not None:
        out(f"written to {file}\n")
    elif no_pager or not streams.on_terminal():
        out(text or "")
    else:
        paged(text or "")
    return GOOD
