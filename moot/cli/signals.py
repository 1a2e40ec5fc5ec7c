"""`moot signals`: the six stop signals and the advice."""

from __future__ import annotations

from typing import Annotated

import typer

import moot
from moot.api import open_run
from moot.cli.options import DebugOption, JsonOption, QuietOption, RunArgument
from moot.errors import GOOD, NO, usage
from moot.locate import find_run
from moot.render.caveats import caveats, tally
from moot.render.plain import signals_text
from moot.terminal import out_json, show
from rounds.verdicts import PROFILES

EPILOG = "Example: moot signals @last --profile script"


def signals(
    run: RunArgument,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"{' or '.join(PROFILES)}; the run's own if not said.")
    ] = None,
    at: Annotated[int | None, typer.Option(metavar="SEQ", min=0, help="As they read after this event.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Keep the panel open and up to date.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> int:
    """Read the six stop signals with their inputs. Exit code 0 says stop, 1 says go on."""
    if profile is not None and profile not in PROFILES:
        raise usage(f"no profile {profile!r}", f"installed are {', '.join(PROFILES)}", "--profile")
    ours = open_run(find_run(run))
    report = moot.signals(ours, profile, at)
    if json:
        out_json(report)
    elif not quiet:
        show(signals_text(report, caveats(*tally(ours.stream()))))
    return GOOD if report.stop else NO
