"""`moot signals`: the stop checks of a run, or the forecasts and cruxes of a `crux` run."""

from __future__ import annotations

from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Final

import typer

import moot
from detectors.parameters import PROFILES
from detectors.report import SignalReport
from ledger.store.disk import read_plain
from moot.api import Run, open_run
from moot.app.readings import forecasts_of, refuse_unwatched, signals_of_state, thresholds_of
from moot.app.runs import LAST, find_run
from moot.cli.command import RUN_HELP, JsonOption, QuietOption, VerbResult, run_names
from moot.errors import GOOD, NO, refuse, usage
from moot.view.outcome_text import STATUSES, status_clause
from roles.outcome_status import OutcomeStatus

if TYPE_CHECKING:
    from detectors.forecasts.report import ForecastReport

TABLE_BYTES_MAX: Final = 1 << 22


def signals(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help=f"{RUN_HELP} Default: @last.", autocompletion=run_names),
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"{' or '.join(PROFILES)}; default: the run's own.")
    ] = None,
    at: Annotated[
        int | None, typer.Option(metavar="SEQ", min=0, help="As they read after this event.")
    ] = None,
    params: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read with thresholds of your own.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Forecasts from numbers in a file (JSON) in place of a run."),
    ] = None,
    all: Annotated[
        bool, typer.Option("--all", help="Show also what does not decide, with the numbers.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> VerbResult | int:
    """Show what decides whether the run stops. Exit code 0 says stop or wait for a person, 1 says go on.

    For a `structured` run these are the stop checks with their inputs. For a `crux` run they are the group forecast,
    the roles' forecasts, and what a test of each crux is worth. --table computes the same from numbers
    in a file, so that you can check the arithmetic (docs/crux.md has its keys).

    Example: moot signals @last --all
    """
    refuse(
        profile is not None and profile not in PROFILES,
        f"no profile {profile!r}",
        f"installed are {', '.join(PROFILES)}",
        "--profile",
    )
    refuse(
        params is not None and profile not in (None, "gates"),
        "--params is for the profile gates",
        "leave --profile out",
        "--params",
    )
    if table is not None:
        # A table has no run, so options of a run would have no effect.
        refuse(
            any(option is not None for option in (run, profile, at, params)),
            "--table stands in place of a run",
            "leave out the run and its options",
            "--table",
        )
        return _forecasts(_forecasts_in(table), GOOD)
    path = find_run(run or LAST)
    ours = open_run(path)
    forecasts = forecasts_of(ours)
    if forecasts is not None:
        # Forecasts have one fixed arithmetic, and no profile that could be chosen.
        refuse(
            profile is not None or params is not None or at is not None,
            "a crux run has forecasts, no stop profile",
            "leave out the options",
            str(path),
        )
        # A crux run has no stop profile: it says "stop" once its forecasts have been looked at, and no test
        # is left that is worth making first.
        stops = ours.state.looks and forecasts.status != "run_this_first"
        waits = forecasts.status == OutcomeStatus.WAITING
        advice = f"{'' if waits else 'STOP: ' if stops else 'GO ON: '}{status_clause(ours.view.outcome)}"
        return _forecasts(forecasts, GOOD if stops else NO, advice)
    refuse_unwatched(ours)
    if not (json or quiet):
        return GOOD if _print(ours, profile, at, params, whole=all).stop else NO
    report = moot.signals(ours, profile, at, params)
    return VerbResult(report, str, GOOD if report.stop else NO)


def _forecasts(forecasts: ForecastReport, code: int, status: str = "") -> VerbResult:
    from moot.view.forecasts import forecasts_text

    first, width = status or STATUSES[forecasts.status], get_terminal_size().columns
    return VerbResult(forecasts, lambda: forecasts_text(forecasts, first, width), code)


def _forecasts_in(table: Path) -> ForecastReport:
    """Return the forecasts of a table of numbers. Raises `MootError` where it cannot be read."""
    from detectors.forecasts.report import WrongTable, read_table, report_of

    try:
        options, numbers = read_table(read_plain(table, TABLE_BYTES_MAX))
    except WrongTable as wrong:
        raise usage(f"{wrong}", wrong.fix, str(table)) from None
    return report_of(numbers, options)


def _print(
    ours: Run, profile: str | None, at: int | None, params: Path | None, *, whole: bool
) -> SignalReport:
    """Print the panel and return its report; the run is read once for both."""
    from moot.terminal.panel import panel, whole_panel
    from moot.terminal.theme import console

    book = ours.book if at is None else ours.book.first(at + 1)
    report = signals_of_state(ours, book.state, profile, params=params)
    # Only the thresholds of `gates` give the numbers by round.
    thresholds = thresholds_of(ours, ours.state, params) if report.profile == "gates" else None
    console().print(whole_panel(book, report, thresholds) if whole else panel(book, report))
    return report
