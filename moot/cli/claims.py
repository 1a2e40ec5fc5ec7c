"""`moot claims`: claims with their lifecycles."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger.state.lifecycle import STATUSES
from moot.api import open_run
from moot.app.runs import find_run
from moot.cli.options import JsonOption, NoPagerOption, QuietOption, RunArgument
from moot.errors import GOOD, usage
from moot.terminal.paging import page
from moot.terminal.streams import columns, out_json
from moot.view.claims import Claims, claims_of, claims_text


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
    if status is not None and status not in STATUSES:
        raise usage(f"no status {status!r}", f"statuses are {', '.join(STATUSES)}", "--status")
    ours = open_run(find_run(run))
    found = claims_of(str(ours.path), ours.book)
    if status is not None:
        kept = [claim for claim in found.claims if claim.status == status]
        found = Claims(run=found.run, claims=kept)
    if json:
        out_json(found)
    elif not quiet:
        page(claims_text(found, columns()), ask=not no_pager)
    return GOOD
