"""`moot status`: where a run stands."""

from __future__ import annotations

from moot.cli.options import DebugOption, JsonOption, QuietOption, RunArgument
from moot.errors import GOOD
from moot.output.status import status_of
from moot.render.caveats import caveats
from moot.render.plain import status_text
from moot.sessions import open_now, open_session
from moot.terminal import out, out_json

EPILOG = "Example: moot status @last"


def status(run: RunArgument, json: JsonOption = False, quiet: QuietOption = False, debug: DebugOption = False) -> int:
    """Say where a run stands: round and phase, leads, stress, drift, cost, the last look at the stop signals."""
    session = open_session(run)
    book = session.book()
    found = status_of(run, book.state)
    if json:
        out_json(found)
    elif not quiet:
        out(status_text(found, caveats(book.state, book.events), open_now(session)))
    return GOOD
