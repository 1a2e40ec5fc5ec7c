"""`moot beliefs`: forecasts and cruxes of a `crux` run, or of a table of numbers in a file."""

from __future__ import annotations

from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Final

import typer

from detectors.forecasts.report import ForecastReport, report_of
from detectors.forecasts.table import WrongTable, read_table
from ledger.store.disk import read_plain
from moot.api import open_run
from moot.app.runs import find_run
from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD, usage
from moot.terminal.streams import out_json, show
from moot.view.forecasts import forecasts_of, forecasts_text

TABLE_BYTES_MAX: Final = 1 << 22


def beliefs(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="A run's directory, an id under ./runs, or @last.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of numbers (JSON) in place of a run.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show the forecasts of a crux run, its cruxes with what a test is worth, and the status that follows.

    With --table the same is computed from numbers in a file: docs/crux.md has its keys.

    Example: moot beliefs @last --json
    """
    if (run is None) == (table is None):
        raise usage("it takes a run or a table", "name a run, or a file with --table", "moot beliefs")
    report = _of_file(table) if table is not None else _of_run(run or "")
    if json:
        out_json(report)
    elif not quiet:
        show(forecasts_text(report, get_terminal_size().columns))
    return GOOD


def _of_file(table: Path) -> ForecastReport:
    try:
        options, numbers = read_table(read_plain(table, TABLE_BYTES_MAX))
    except WrongTable as wrong:
        raise usage(f"{wrong}", wrong.fix, str(table)) from None
    return report_of(numbers, options)


def _of_run(run: str) -> ForecastReport:
    path = find_run(run)
    ours = open_run(path)
    report = forecasts_of(run, ours.book)
    if report is not None:
        return report
    opened = ours.state.opened
    if opened is not None and opened.protocol == "crux":
        what, fix = "forecasts are sealed until all numbers are in", f"see `moot status {run}`"
        raise usage(what, fix, str(path))
    protocol = "an import" if opened is None else f"a run of {opened.protocol}"
    raise usage(f"{protocol} has no forecasts", "only runs of crux have them: see docs/crux.md", str(path))
