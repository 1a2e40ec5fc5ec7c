"""`moot calibrate`: tolerated rates from one's own healthy runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from detectors.stopping.estimation import RUNS_FEWEST, Calibration
from moot.app.calibration import calibrate as calibrated
from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD
from moot.terminal.streams import out_json, show


def calibrate(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUNS", help="Runs that went well, or directories of runs.")
    ],
    directory: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The parameter file to write.")
    ] = Path("calibrated.toml"),
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Estimate anew what is tolerated, from runs that went well, and write a parameter file.

    Use it with `moot run --params FILE` and `moot signals RUN --params FILE`. Runs that failed would teach the
    detectors to tolerate failing; below thirty runs the numbers are guesses, and the command says so;
    below five it writes nothing, and keeps each number that fewer than five of the runs tell. Of the gates the share of
    untested claims and the points of `settled` are estimated: how far answers moved over the last rounds of runs that
    kept their leader, and how far one role was from itself.

    Example: moot calibrate runs/2026-* --out ours.toml
    """
    found = calibrated(runs, directory)
    if json:
        out_json(found)
    elif not quiet:
        show(_told(found))
    return GOOD


def _told(found: Calibration) -> str:
    lines = [f"{found.out}: tolerated rates from {len(found.runs)} runs, params {found.params[:12]}…"]
    lines += [f"warning: {warning}" for warning in found.warnings]
    for rate in found.rates:
        rests = f"{rate.units} units of {rate.runs} runs"
        rests = rests if rate.runs >= RUNS_FEWEST else f"{rate.runs or 'no'} runs tell; kept"
        lines.append(f"  {rate.name:<18} {rate.installed:>7.4g} → {rate.estimated:<7.4g} {rests}")
    return "\n".join(lines) + "\n"
