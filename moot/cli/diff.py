"""`moot diff`: what two runs have in common, and where they part."""

from __future__ import annotations

from typing import Annotated

import typer

import moot
from moot.app.runs import find_run
from moot.cli.options import RUN_HELP, JsonOption, QuietOption, run_names
from moot.errors import GOOD, NO
from moot.terminal.streams import out_json, show
from moot.view.comparison import diff_text


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help=RUN_HELP, autocompletion=run_names)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.", autocompletion=run_names)],
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Compare two runs: claims and how they ended, decisions, signals, cost, the first line that differs.

    Example: moot diff runs/examples/crux-balance @last
    """
    comparison = moot.diff(find_run(a), find_run(b))
    if json:
        out_json(comparison)
    elif not quiet:
        show(diff_text(comparison))
    return GOOD if comparison.same else NO
