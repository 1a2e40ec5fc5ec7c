"""`moot check`: every rule that the ledger breaks."""

from __future__ import annotations

from typing import Annotated

import orjson
import typer

import moot
from moot.api import open_run
from moot.app.runs import find_run
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import GOOD, NO, usage
from moot.terminal.streams import out, out_json, show
from moot.view.findings import check_text, github_text
from moot.view.labels import calls_of, caveats
from moot.view.review_forms import check_sarif
from validators.rulebook import PhaseUnknown

FORMATS = ("text", "json", "github", "sarif")


def check(
    run: RunArgument,
    phase: Annotated[
        str | None,
        typer.Option(metavar="PHASE", help="Judge the ledger as it stood when this phase last ended."),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", metavar="FORM", help="text, json, github or sarif.")
    ] = "text",
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Report every rule that the ledger breaks. Exit code 1 when a finding is an error; warnings are allowed.

    Example: moot check @last --format github
    """
    if format not in FORMATS:
        raise usage(f"no format {format!r}", f"choose one of {', '.join(FORMATS)}", "--format")
    if json and format in ("github", "sarif"):
        raise usage(f"--json and --format {format} are two forms", "give one of them", "--format")
    ours = open_run(find_run(run))
    try:
        report = moot.check(ours, phase)
    except PhaseUnknown:
        raise usage(
            f"no round of this run has reached phase {phase!r}", "phases are A to H and S", "--phase"
        ) from None
    if json or format == "json":
        out_json(report)
    elif format == "sarif" and not quiet:
        out(orjson.dumps(check_sarif(report, moot.version()), option=orjson.OPT_INDENT_2).decode() + "\n")
    elif not quiet:
        labels = () if format == "github" else caveats(ours.raw_book.state, calls_of(ours.events))
        show(github_text(report) if format == "github" else check_text(report, labels))
    return GOOD if report.ok else NO
