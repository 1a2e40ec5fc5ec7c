"""`moot status`: where a run stands."""

from __future__ import annotations

from moot.api import open_run
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import GOOD
from moot.locate import find_run
from moot.output.status import status_of
from moot.render.caveats import caveats, tally
from moot.render.plain import status_text
from moot.terminal import out_json, show
from roles.protocol import open_steps
from rounds.session import protocol_of

EPILOG = "Example: moot status @last"


def status(run: RunArgument, json: JsonOption = False, quiet: QuietOption = False) -> int:
    """Say where a run stands: round and phase, leads, stress, drift, cost, the last look at the stop signals."""
    ours = open_run(find_run(run))
    state, calls = tally(ours.stream())
    found = status_of(str(ours.path), state)
    if json:
        out_json(found)
    elif not quiet:
        assert state.opened is not None, "a run begins with its opening"
        waiting = [step.id for step in open_steps(protocol_of(state.opened), state)]
        show(status_text(found, caveats(state, calls), waiting))
    return GOOD
