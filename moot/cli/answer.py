"""`moot answer`: answer a question that was put to a person."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.app.acts import add
from moot.cli.options import JsonOption, QuietOption, RunArgument, TextArgument
from rounds.run import human_actions as people

EPILOG = "Example: moot answer @last N-3-1 'Yes, a lost acknowledgement is acceptable once a year.'"


def answer(
    run: RunArgument,
    concern: Annotated[str, typer.Argument(metavar="ID", help="The question's or concern's id (N-3-1).")],
    text: TextArgument,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Answer a question or settle a concern; the answer is a decision in force, and later briefs show it."""
    return add(run, lambda session: people.answer(session, concern, text), json=json, quiet=quiet)
