"""`moot ack`: close an alarm, with a reason."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.app.acts import add
from moot.cli.options import JsonOption, QuietOption, RunArgument, TextArgument
from rounds.run import human_actions as people

EPILOG = "Example: moot ack @last FM-1 'The critic was right to agree: nothing was left to attack.'"


def ack(
    run: RunArgument,
    alarm: Annotated[
        str, typer.Argument(metavar="ALARM", help="The failure mode (FM-1), or @SEQ of the alarm.")
    ],
    text: TextArgument,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Close an open alarm; what it had amended ends with it."""
    return add(run, lambda session: people.acknowledge(session, alarm, text), json=json, quiet=quiet)
