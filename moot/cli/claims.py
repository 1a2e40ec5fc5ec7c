"""`moot claims`: claims with their lifecycles."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger.state.lifecycle import STATUSES
from moot.api import open_run
from moot.app.readings import read_claims
from moot.app.runs import find_run
from moot.cli.options import JsonOption, NoPagerOption, QuietOption, RunArgument
from moot.errors import GOOD
from moot.terminal.paging import page
from moot.terminal.streams import columns, out_json
from moot.view.claims import claims_text


def claims(
    run: RunArgument,
    status: Annotated[
        str | None, typer.Option(metavar="STATUS", help=f"Only claims that stand so: {', '.join(STATUSES)}.")
    ] = None,
    no_pager: NoPagerOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """List the claims with how each one came to stand where it stands.

    Example: moot claims @last --status tested_refuted
    """
    listing = read_claims(open_run(find_run(run)), status)
    if json:
        out_json(listing)
    elif not quiet:
        page(claims_text(listing, columns()), ask=not no_pager)
    return GOOD
