"""`moot stress`: what the forks of a run say about its roles."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.app.forks import stress as stressed
from moot.app.runs import find_run
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import GOOD
from moot.terminal.streams import out_json, show
from moot.view.comparison import stress_text


def stress(
    run: RunArgument,
    role: Annotated[
        list[str] | None, typer.Option(metavar="ROLE", help="Only this role; may be repeated.")
    ] = None,
    forks: Annotated[int, typer.Option(metavar="K", min=1, max=20, help="Forks a role (3).")] = 3,
    make: Annotated[bool, typer.Option("--make", help="Make the forks that are missing.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Plan forks of RUN without each role, and compare those that exist with it: what was lost without whom.

    Sealed answers come first, where the run asked for them: who would lead without each role costs no reply. What the
    others would have said without a role takes forks. One stress round seldom shows that a role carries anything, and
    with few forks INSUFFICIENT is the usual verdict; its power is said beside it.

    Example: moot stress runs/examples/storage-minimum-8 --role critic --forks 2
    """
    found = stressed(find_run(run), roles=tuple(role or ()), per_role=forks, make=make)
    if json:
        out_json(found)
    elif not quiet:
        show(stress_text(found))
    return GOOD
