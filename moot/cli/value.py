"""`moot value`: what several roles were worth, over many runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moot.api import open_run
from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD, NO, usage
from moot.terminal.streams import out_json, show
from rounds.analysis.value import RunValue, ValueReport, event_lines, report, value_of


def value(
    runs: Annotated[list[str], typer.Argument(metavar="RUNS", help="Runs, or directories of runs.")],
    emit: Annotated[
        bool,
        typer.Option("--emit", help="Print each run's event lines, for other tools, and nothing else."),
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Count disagreements, who was sided with, acceptance and edit distance, run by run.

    Exit code 1 when something is flagged: five runs of a protocol in a row without a disagreement, or one of two sides
    that has won every run, of five or more. Runs without a decision are not judged.

    Example: moot value runs
    """
    if emit and json:
        raise usage("--emit prints lines of its own", "give one of --emit and --json", "--emit")
    paths = [path for said in runs for path in _runs(Path(said))]
    if not paths:
        raise usage("no run there", "name a run, or a directory of runs", " ".join(runs))
    found = report([value_of(str(path), open_run(path).book) for path in paths])
    if json:
        out_json(found)
    elif not quiet:
        lines = (f"{line}\n" for run in found.runs for line in event_lines(run))
        show("".join(lines) if emit else _text(found))
    return NO if found.flags else GOOD


def _runs(place: Path) -> list[Path]:
    if (place / "head").is_file():
        return [place]
    return sorted(path.parent for path in place.glob("*/head")) if place.is_dir() else []


def _text(found: ValueReport) -> str:
    lines = [line for run in found.runs for line in _run(run)]
    lines += [f"⚑ {flag}" for flag in found.flags]
    return "\n".join([*lines, f"{len(found.runs)} runs, {len(found.flags)} flags", ""])


def _run(run: RunValue) -> list[str]:
    sides = ", ".join(f"{side} {count}" for side, count in run.sided_with.items()) or "nobody"
    words = {None: "acceptance not said (`moot outcome`)", True: "accepted", False: "rejected"}[run.accepted]
    edited = f", edit distance {run.edit_distance}" if run.edit_distance else ""
    return [
        f"{run.run}   ({run.protocol})",
        f"  {run.disagreements} disagreements, sided with {sides}; {words}{edited}",
    ]
