"""`moot why`: what a decision or a claim rests on."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.cli.options import (
    ID_HELP,
    RUN_OR_ID_HELP,
    JsonOption,
    QuietOption,
    run_names,
    split_names,
)
from moot.errors import GOOD, usage
from moot.terminal.streams import columns, out_json, show


def why(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help=RUN_OR_ID_HELP, autocompletion=run_names)],
    identity: Annotated[str | None, typer.Argument(metavar="ID", help=ID_HELP)] = None,
    everything: Annotated[bool, typer.Option("--all", help="To the bottom, with every quote.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show what a decision or a claim rests on, down to quoted words, each thing once.

    Example: moot why @last D-2-1
    """
    # Imported in the verb: an ID that is missing is reported without loading the API.
    from moot.api import open_run
    from moot.app.readings import read_grounds
    from moot.app.runs import find_run
    from moot.view.why import why_text

    where, name = split_names(run, identity)
    if name is None:
        raise usage("no ID", f"name a decision or a claim: `moot decisions {where}` lists them", "ID")
    grounds = read_grounds(open_run(find_run(where)), name, everything=everything)
    if json:
        out_json(grounds)
    elif not quiet:
        show(why_text(grounds, columns(), everything=everything))
    return GOOD
