"""`moot signals`: the six stop signals and the advice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import moot
from detectors.parameters import PROFILES
from detectors.report import SignalReport
from moot.api import Run, open_run
from moot.app.runs import find_run
from moot.app.signals import refuse_unwatched, signals_of_state, thresholds_of
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import GOOD, NO, usage
from moot.terminal.streams import out_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from detectors.stopping.parameters import GateParameters


def signals(
    run: RunArgument,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"{' or '.join(PROFILES)}; the run's own if not said.")
    ] = None,
    at: Annotated[
        int | None, typer.Option(metavar="SEQ", min=0, help="As they read after this event.")
    ] = None,
    params: Annotated[
        Path | None, typer.Option(metavar="FILE", help="By the thresholds of this file.")
    ] = None,
    all: Annotated[
        bool, typer.Option("--all", help="Show also what does not decide, with the numbers.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Keep the panel open and up to date.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show what decides whether the run stops. Exit code 0 says stop or wait for a person, 1 says go on.

    Example: moot signals @last --all
    """
    if profile is not None and profile not in PROFILES:
        raise usage(f"no profile {profile!r}", f"installed are {', '.join(PROFILES)}", "--profile")
    if params is not None and profile not in (None, "gates"):
        raise usage("--params is for the profile gates", "leave --profile out", "--params")
    if watch and (json or quiet or at is not None):
        raise usage("--watch keeps a panel open", "leave out --json, --quiet and --at, or --watch", "--watch")
    path = find_run(run)
    refuse_unwatched(open_run(path))
    if watch:
        return _watch(path, profile, params, whole=all)
    ours = open_run(path)
    if json or quiet:
        report = moot.signals(ours, profile, at, params)
        if json:
            out_json(report)
    else:
        report = _print(ours, profile, at, params, whole=all)
    return GOOD if report.stop else NO


def _print(
    ours: Run, profile: str | None, at: int | None, params: Path | None, *, whole: bool
) -> SignalReport:
    """Print the panel; the run is read once for both."""
    from moot.terminal.console import console
    from moot.terminal.panel import panel, read_panel, whole_panel

    facts = read_panel(ours.stream(at))
    report = signals_of_state(ours, facts.state, profile, params=params)
    shown = whole_panel(facts, report, _thresholds(ours, report, params)) if whole else panel(facts, report)
    console().print(shown)
    return report


def _thresholds(ours: Run, report: SignalReport, params: Path | None) -> GateParameters | None:
    """Those of the report, for the numbers by round that stand beside it."""
    return thresholds_of(ours, ours.state, params) if report.profile == "gates" else None


def _watch(path: Path, profile: str | None, params: Path | None, *, whole: bool) -> int:
    """The panel, kept up to date until the run is finished; a look reads what is new and nothing else."""
    from detectors.stopping.judgement import RunningJudgement
    from moot.app.session import news_of
    from moot.terminal.console import console
    from moot.terminal.panel import PanelFacts, panel, watch_panel, whole_panel

    stop, ours, facts = False, open_run(path), PanelFacts()
    watched = RunningJudgement(thresholds_of(ours, ours.state, params), facts.state)

    def look() -> tuple[RenderableType, bool]:
        nonlocal stop
        for event in ours.events[facts.state.seq + 1 :]:
            facts.take(event)
            watched.take(event, fold=False)
        report = signals_of_state(ours, facts.state, profile, params=params, judgement=watched.judgement())
        stop = report.stop
        shown = (
            whole_panel(facts, report, _thresholds(ours, report, params)) if whole else panel(facts, report)
        )
        return shown, facts.state.finished

    watch_panel(console(), look, news_of(path))
    return GOOD if stop else NO
