"""Verbs that read: `status`, `list`, `log`, `claims`, `decisions`, `why`, `diff` and `explain`.

Each imports its view when it is called, so that a verb starts without the views of the others.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import orjson
import typer

import moot
from ledger.events import STREAMS, Event
from ledger.format.canonical import encode
from ledger.state.book import Book
from ledger.state.lifecycle import STATUSES
from moot.api import Run, open_run
from moot.app.readings import (
    EventFilter,
    listed_events,
    read_claims,
    read_decisions,
    read_event,
    read_grounds,
    read_log,
)
from moot.app.runs import LAST, find_run
from moot.cli.command import (
    ID_HELP,
    RUN_HELP,
    JsonOption,
    NoPagerOption,
    QuietOption,
    RunArgument,
    RunOrIdArgument,
    VerbResult,
    run_names,
    split_names,
)
from moot.errors import GOOD, NO, usage
from moot.terminal.streams import columns, page, show, show_outcome

IdArgument = Annotated[str | None, typer.Argument(metavar="ID", help=ID_HELP)]


def status(
    run: RunOrIdArgument = LAST,
    identity: IdArgument = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> VerbResult | int:
    """Show where a run stands: outcome, round and phase, leads, cost, the stop checks as they read now.

    With an ID, show that one thing: its words, what became of it, and what names it later. `moot show` does the same.

    Example: moot status @last C-1-4
    """
    # `moot status C-1-4` means an event of the last run, as `moot why` and `moot show` read it.
    where, name = split_names(run, identity)
    ours = open_run(find_run(where))
    if name is not None:
        from moot.view.show import show_text

        record = read_event(ours, name)
        return VerbResult(record, lambda: show_text(record, columns()))
    from moot.view.status import status_of

    view = ours.view
    if json:
        return VerbResult(status_of(view.name, view.book, view.signals, view.outcome, view.unrecorded), str)
    if not quiet:
        show_status(ours)
    return GOOD


def show_status(ours: Run) -> None:
    """Print where a run stands."""
    from moot.view.outcome_text import outcome_first
    from moot.view.status import status_text

    view = ours.view
    show_outcome(outcome_first(view.outcome, view.quorum, view.name, columns()), view.outcome.status)
    show(status_text(view.name, view.book.state, view.signals, view.unrecorded))


def list_(
    directory: Annotated[
        str | None, typer.Argument(metavar="DIR", help="A directory of runs. Default: ./runs.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="List all runs, not only the last twenty.")] = False,
    no_pager: NoPagerOption = False,
) -> VerbResult:
    """List the runs, the last committed first: what each was asked, what it answers, where it stands.

    Example: moot list runs/examples --all
    """
    from moot.view.status import list_text

    listing = moot.list_runs(directory, at_most=None if all else 20)
    return VerbResult(listing, lambda: list_text(listing, columns()), write=partial(page, ask=not no_pager))


def log(
    run: RunOrIdArgument,
    identity: Annotated[
        str | None, typer.Argument(metavar="ID", help="One event whole, by its id (H-5) or its place (@41).")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only this kind, such as claim or decision.")
    ] = None,
    round: Annotated[int | None, typer.Option("--round", metavar="N", min=0, help="Only this round.")] = None,
    stream: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Only one of {', '.join(STREAMS)}.")
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="ROLE", help="Only what this role wrote.")] = None,
    no_pager: NoPagerOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> VerbResult | int:
    """List the events, one line each, or show one of them whole; with --json all fields that this version knows.

    An ID that --kind, --round, --stream or --by excludes is an error.

    Example: moot log @last --round 3 --stream verifications; moot log @last H-5
    """
    where, name = split_names(run, identity)
    ours = open_run(find_run(where))
    events = listed_events(ours, name, EventFilter(kind=kind, round=round, stream=stream, role=by))
    if json:
        return VerbResult(read_log(ours, events), str)
    if not quiet:
        book = ours.raw_book
        text = "".join(_event_text(event, book, is_whole=name is not None) for event in events)
        page(text, ask=not no_pager)
    return GOOD


def _event_text(event: Event, book: Book, *, is_whole: bool) -> str:
    from moot.view.event_lines import event_line

    if not is_whole:
        return f"{event_line(event, book)}\n"
    # Encoded in the ledger's form first, so that the fields have the names and the order of the file.
    text = orjson.dumps(orjson.loads(encode(event)), option=orjson.OPT_INDENT_2).decode()
    return f"{event_line(event, book)}\n{text}\n"


def claims(
    run: RunArgument,
    status: Annotated[
        str | None,
        typer.Option(metavar="STATUS", help=f"Only claims with this status: {', '.join(STATUSES)}."),
    ] = None,
    no_pager: NoPagerOption = False,
) -> VerbResult:
    """List the claims with the history of their status.

    Example: moot claims @last --status tested_refuted
    """
    from moot.view.claims import claims_text

    listing = read_claims(open_run(find_run(run)), status)
    return VerbResult(listing, lambda: claims_text(listing, columns()), write=partial(page, ask=not no_pager))


def decisions(
    run: RunArgument,
    final: Annotated[bool, typer.Option("--final", help="Only final ones, and what overrides them.")] = False,
    in_force: Annotated[
        bool, typer.Option("--in-force", help="Only those that no later decision ended.")
    ] = False,
    no_pager: NoPagerOption = False,
) -> VerbResult:
    """List the decisions: what each rests on, how that stands now, what would show it wrong.

    Example: moot decisions @last --final --in-force
    """
    ours = open_run(find_run(run))
    listing = read_decisions(ours, final=final, in_force=in_force)

    def text() -> str:
        from moot.view.claims import decisions_text
        from moot.view.labels import beside_outcome
        from moot.view.outcome_text import outcome_first

        first = outcome_first(listing.outcome, listing.quorum, str(ours.path), columns())
        return first + decisions_text(listing, beside_outcome(ours.book.state), columns())

    return VerbResult(listing, text, write=partial(page, ask=not no_pager))


def why(
    run: RunOrIdArgument,
    identity: IdArgument = None,
    everything: Annotated[bool, typer.Option("--all", help="To the bottom, with every quote.")] = False,
) -> VerbResult:
    """Show what a decision or a claim rests on, down to quoted words, each thing once.

    Example: moot why @last D-2-1
    """
    from moot.view.show import why_text

    where, name = split_names(run, identity)
    if name is None:
        raise usage("no ID", f"name a decision or a claim: `moot decisions {where}` lists them", "ID")
    grounds = read_grounds(open_run(find_run(where)), name, everything=everything)
    return VerbResult(grounds, lambda: why_text(grounds, columns(), everything=everything))


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help=RUN_HELP, autocompletion=run_names)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.", autocompletion=run_names)],
) -> VerbResult:
    """Compare two runs: claims and how they ended, decisions, signals, cost, the first line that differs.

    Example: moot diff runs/examples/crux-balance @last
    """
    from moot.view.comparison import diff_text

    comparison = moot.diff(find_run(a), find_run(b))
    return VerbResult(comparison, lambda: diff_text(comparison), GOOD if comparison.same else NO)


def explain(
    code: Annotated[
        list[str] | None,
        typer.Argument(metavar="CODE|TERM", help="Such as FM-4, N-1-6, pending or 'group forecast'."),
    ] = None,
) -> VerbResult:
    """Explain a code or term: a rule, failure mode, stop check, status, event kind, id letter, exit code or word.

    Without one, list all that can be explained.

    Example: moot explain FM-4
    """
    # Imported late: its tables load every rule, protocol and event kind.
    from moot.view import explain as view

    term = " ".join(code or ())
    explanation = view.explain(term) if term else view.Explanation("", list(view.all_entries()))
    if not explanation.entries:
        # Codes are easy to mistype, so the nearest known one is suggested.
        near = view.nearest(term)
        fix = f"did you mean {near!r}?" if near else "`moot explain` lists what can be explained"
        raise usage(f"nothing is known as {term!r}", fix, "moot explain")
    return VerbResult(explanation, lambda: view.explanation_text(explanation, columns()))
