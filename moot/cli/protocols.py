"""`moot protocols`: the protocols and plans that there are."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD, usage
from moot.terminal.streams import out_json, show
from moot.view.output import protocols as output
from moot.view.plain import protocols_text
from rounds.protocols import PROTOCOLS
from rounds.setup.deliberation import nearest

EPILOG = "Example: moot protocols debate"


def protocols(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One protocol; all if not said.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """List the protocols with their roles and variants, the plans, and the castings."""
    if name is not None and name not in PROTOCOLS:
        raise usage(f"no protocol {name!r}", f"did you mean {nearest(name, PROTOCOLS)!r}?", "moot protocols")
    found = output.protocols(name)
    if json:
        out_json(found)
    elif not quiet:
        show(protocols_text(found))
    return GOOD
