"""`moot note`: put a remark on the ledger."""

from __future__ import annotations

from moot.app.acts import add
from moot.cli.options import JsonOption, QuietOption, RunArgument, TextArgument
from rounds.run import human_actions as people

EPILOG = "Example: moot note @last 'R5 was run with a new model for the critic.'"


def note(
    run: RunArgument,
    text: TextArgument,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Put a remark on the ledger. No brief shows it."""
    return add(run, lambda session: people.note(session, text), json=json, quiet=quiet)
