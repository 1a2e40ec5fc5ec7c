"""`moot rm`: remove a run from the disk."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.app.removal import check_is_run, reason_to_keep, remove_run
from moot.app.runs import find_run
from moot.cli.options import JsonOption, QuietOption, RunArgument, asking
from moot.errors import GOOD, MootError
from moot.terminal.streams import out_json, show


def rm(
    run: RunArgument,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove it without asking, also while it is written or waits.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Remove the directory of a run. There is no way back.

    On a terminal it asks first. Elsewhere it needs --yes, as does a run that is being written or that waits. It removes
    only a directory that is a run and holds nothing else, and follows no link out of it.

    Example: moot rm 2026-03-04-kfmr
    """
    path = find_run(run)
    # Before the question, so that a yes is never given for a directory that cannot be removed.
    check_is_run(path)
    if not yes:
        reason = reason_to_keep(path)
        if reason is not None:
            raise MootError(
                "in_use", reason, str(path), "wait until it ends, or add --yes to remove it all the same"
            )
        # --json and --quiet come from scripts, and a script must not remove a run by accident.
        agreed = asking(silent=json or quiet)
        if agreed is None:
            raise MootError(
                "not_agreed", "nothing was removed", str(path), "add --yes: there is no terminal to ask on"
            )
        if not agreed(f"{path} will be removed for good.\n", "Remove it?"):
            raise MootError("not_agreed", "nothing was removed", str(path), "answer y to remove it")
    removed = remove_run(path)
    if json:
        out_json(removed)
    elif not quiet:
        show(f"removed {removed.run}\n")
    return GOOD
