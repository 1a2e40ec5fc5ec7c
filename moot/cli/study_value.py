"""`moot study value`: compare what several roles were worth, over many runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from moot.api import open_run
from moot.errors import GOOD, NO, usage
from moot.terminal.streams import out_json, show
from rounds.analysis.value import RunValue, ValueReport, event_lines, report, value_of


def value_of_runs(places: Sequence[str], *, emit: bool, json: bool, quiet: bool) -> int:
    """Print what the roles were worth in every run below `places`; return 1 when something is flagged."""
    # Both would write to stdout, and neither could be parsed.
    if emit and json:
        raise usage("--emit prints lines of its own", "give one of --emit and --json", "--emit")
    paths = [path for place in places for path in _runs(Path(place))]
    if not paths:
        raise usage("no run there", "name a run, or a directory of runs", " ".join(places))
    comparison = report([value_of(str(path), open_run(path).book) for path in paths])
    if json:
        out_json(comparison)
    elif not quiet:
        lines = (f"{line}\n" for run in comparison.runs for line in event_lines(run))
        show("".join(lines) if emit else _text(comparison))
    return NO if comparison.flags else GOOD


def _runs(place: Path) -> list[Path]:
    if (place / "head").is_file():
        return [place]
    # Sorted by name, which is by date: streaks of runs without a disagreement depend on the order.
    return sorted(path.parent for path in place.glob("*/head")) if place.is_dir() else []


def _text(comparison: ValueReport) -> str:
    lines = [line for run in comparison.runs for line in _run(run)]
    lines += [f"⚑ {flag}" for flag in comparison.flags]
    return "\n".join([*lines, f"{len(comparison.runs)} runs, {len(comparison.flags)} flags", ""])


def _run(run: RunValue) -> list[str]:
    sides = ", ".join(f"{side} {count}" for side, count in run.sided_with.items()) or "nobody"
    words = {None: "acceptance not said (`moot outcome`)", True: "accepted", False: "rejected"}[run.accepted]
    edited = f", edit distance {run.edit_distance}" if run.edit_distance else ""
    return [
        f"{run.run}   ({run.protocol})",
        f"  {run.disagreements} disagreements, sided with {sides}; {words}{edited}",
    ]
