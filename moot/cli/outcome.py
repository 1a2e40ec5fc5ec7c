"""`moot outcome`: what a run comes to, and what became of it later."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.api import open_run
from moot.app.runs import find_run
from moot.app.session import names, open_session
from moot.cli.options import ByOption, JsonOption, QuietOption, RunArgument, among
from moot.environment import git_identity
from moot.errors import GOOD, usage
from moot.terminal.streams import columns, out_json, show
from moot.view.outcome import outcome_of
from moot.view.outcome_text import outcome_first
from moot.view.quorum import quorum_told
from moot.view.results import OutcomeSaid
from rounds.run.aftermath import FATES, fate_of


def outcome(
    run: RunArgument,
    fate: Annotated[
        str | None,
        typer.Argument(
            metavar="[held|failed|mixed|unknown]",
            help="What became of it; nothing only shows it.",
            autocompletion=among(lambda: FATES),
        ),
    ] = None,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="What was seen, and when.")] = None,
    decision: Annotated[
        str | None, typer.Option(metavar="D-ID", help="Of which decision (the first final one).")
    ] = None,
    by: ByOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show what a run comes to; or say, months later, whether a decision held, on the record of the finished run.

    What was said last stands; what was said before stays on the ledger. Where the run gave a likelihood, it is scored.

    Example: moot outcome @last failed 'Two writers lost a line in March.' --decision D-4-1 --by Ada
    """
    said = fate_of(fate)
    if fate is not None and said is None:
        raise usage(
            f"{fate!r} is nothing that becomes of a decision", f"say {', '.join(FATES)}", "moot outcome"
        )
    if said is not None and text is None:
        raise usage("no words", "say what was seen, in quotes", "moot outcome")
    if said is None and (decision is not None or by is not None):
        raise usage("nothing is said of it", f"add {', '.join(FATES)} and what was seen", "moot outcome")
    written: list[str] = []
    if said is not None and text is not None:
        session = open_session(run)
        name = by if by is not None else git_identity() if session.keeps_names else None
        written = names(session.say_what_became(said, text, decision, by=name))
    ours = open_run(find_run(run))
    told, quorum = outcome_of(str(ours.path), ours.book), quorum_told(ours.book.state)
    if json:
        out_json(OutcomeSaid(run=str(ours.path), events=written, outcome=told))
    elif not quiet:
        show(outcome_first(told, quorum, str(ours.path), columns()))
    return GOOD
