"""`moot outcome`: show what a run decided, and record what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, cast

import typer

from moot.api import open_run
from moot.app.documents import read_text
from moot.app.runs import find_run
from moot.app.session import Session, names, open_session
from moot.cli.options import ByOption, JsonOption, QuietOption, RunArgument, among
from moot.environment import git_identity
from moot.errors import GOOD, usage
from moot.terminal.streams import columns, out_json, show_outcome
from moot.view.outcome_text import outcome_first
from moot.view.results import OutcomeSaid
from rounds.run.aftermath import FATES, fate_of

USES: Final = ("accepted", "edited", "rejected")
"""Words for whether the outcome was used; the words of `FATES` say how it turned out."""
WORDS: Final = (*USES, *FATES)


def outcome(
    run: RunArgument,
    word: Annotated[
        str | None,
        typer.Argument(
            metavar=f"[{'|'.join(WORDS)}]",
            help="What became of it. Without a word, the outcome is only shown.",
            autocompletion=among(lambda: WORDS),
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|TEXT]", help="edited: the text that was used. Else: what was seen, and when."
        ),
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(metavar="D-ID", help="The decision that held or failed (the first final one)."),
    ] = None,
    by: ByOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show the outcome of a run, or record what became of it on the ledger of the finished run.

    accepted, edited FILE and rejected say whether the outcome was used. `moot study value` counts them and measures how
    far FILE is from the outcome. held, failed, mixed and unknown say, months later, how a decision turned out. If the
    run gave a likelihood, it is scored. A later word replaces an earlier one; both stay on the ledger.

    Example: moot outcome @last failed 'Two writers lost a line in March.' --decision D-4-1 --by Ada
    """
    # These options only make sense with a word; without one the person has probably forgotten it.
    if word is None and (decision is not None or by is not None):
        raise usage("no word says what became of it", f"add one of {', '.join(WORDS)}", "moot outcome")
    written: list[str] = []
    if word is not None:
        session = open_session(run)
        name = git_identity() if by is None else by
        written = _record(session, word, text, decision, name)
    # Opened after the writing, so that the outcome shown already contains it.
    view = open_run(find_run(run)).view
    if json:
        out_json(OutcomeSaid(run=view.name, events=written, outcome=view.outcome))
    elif not quiet:
        show_outcome(outcome_first(view.outcome, view.quorum, view.name, columns()), view.outcome.status)
    return GOOD


def _record(session: Session, word: str, text: str | None, decision: str | None, by: str | None) -> list[str]:
    """Write what a word says and return the ids of the events.

    Raises `MootError` when an argument is missing or superfluous.
    """
    # A fate concerns a decision months later, a use concerns the whole run now: their arguments differ.
    fate = fate_of(word)
    if fate is not None:
        if text is None:
            raise usage(f"{word} needs a text", "say what was seen, in quotes", "moot outcome")
        return names(session.say_what_became(fate, text, decision, by=by))
    if word not in USES:
        raise usage(f"unknown word {word!r}", f"use one of {', '.join(WORDS)}", "moot outcome")
    if decision is not None:
        raise usage(f"{word} is about the whole run", "leave out --decision", "--decision")
    if (word == "edited") != (text is not None):
        fix = "name the file: moot outcome RUN edited FILE" if word == "edited" else "leave out the text"
        raise usage(f"{word} takes {'a file' if word == 'edited' else 'no text'}", fix, "moot outcome")
    used = read_text(Path(cast(str, text))) if word == "edited" else None
    return names(session.accept(used, rejected=word == "rejected", by=by))
