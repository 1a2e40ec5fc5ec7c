"""`moot protocols`: the protocols and plans that there are."""

from __future__ import annotations

from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD
from moot.output import protocols as output
from moot.render.plain import protocols_text
from moot.terminal import out_json, show

EPILOG = "Example: moot protocols --json"


def protocols(json: JsonOption = False, quiet: QuietOption = False) -> int:
    """List the protocols with their roles, the plans, and the castings."""
    found = output.protocols()
    if json:
        out_json(found)
    elif not quiet:
        show(protocols_text(found))
    return GOOD
