"""`moot status` (also `moot show`): where a run stands, or one thing of it."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger.state.state import State
from moot.api import Run, open_run
from moot.app.runs import LAST, find_run
from moot.app.signals import signals_at_head
from moot.cli.options import (
    ID_HELP,
    RUN_OR_ID_HELP,
    JsonOption,
    QuietOption,
    run_names,
    split_names,
)
from moot.errors import GOOD
from moot.terminal.streams import columns, out_json, show, show_outcome
from moot.view.costs import spent_beyond
from moot.view.labels import beside_outcome, tally
from moot.view.outcome_text import outcome_first
from moot.view.status import status_text


def status(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help=RUN_OR_ID_HELP, autocompletion=run_names)
    ] = LAST,
    identity: Annotated[str | None, typer.Argument(metavar="[ID]", help=ID_HELP)] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show where a run stands: outcome, round and phase, leads, cost, the stop checks as they read now.

    With an ID, show that one thing: its words, what became of it, and what names it later. `moot show` does the same.

    Example: moot status @last C-1-4
    """
    # `moot status C-1-4` means an event of the last run, as `moot why` and `moot show` read it.
    where, name = split_names(run, identity)
    if name is not None:
        return _one_thing(where, name, json=json, quiet=quiet)
    ours = open_run(find_run(where))
    if json:
        _as_json(ours)
        return GOOD
    # One pass over the events: a long run must not be read once per number.
    state, _ = tally(ours.events)
    if not quiet:
        report = signals_at_head(ours, state)
        outcome = ours.outcome
        show_outcome(outcome_first(outcome, ours.quorum, str(ours.path), columns()), outcome.status)
        show(
            status_text(
                ours.path, state, beside_outcome(state), _open_steps(state), report, spent_beyond(ours.path)
            )
        )
    return GOOD


def _one_thing(run: str, identity: str, *, json: bool, quiet: bool) -> int:
    from moot.app.readings import read_event
    from moot.view.show import show_text

    thing = read_event(open_run(find_run(run)), identity)
    if json:
        out_json(thing)
    elif not quiet:
        show(show_text(thing, columns()))
    return GOOD


def _as_json(ours: Run) -> None:
    from moot.view.costs import costs_of
    from moot.view.status import Ledgered, status_of

    # The parts of the JSON object are collected while the events are folded, in the same single pass.
    ledgered = Ledgered()
    state, _ = tally(ledgered.seen(ours.events))
    beyond = spent_beyond(ours.path)
    report = signals_at_head(ours, state)
    each = costs_of(ours.book).each
    out_json(status_of(str(ours.path), state, ledgered.parts(), beyond, report, ours.outcome, each))


def _open_steps(state: State) -> list[str]:
    """Ids of the open steps; the protocols are read only for a run that still has some."""
    if state.finished or state.opened is None:
        return []
    from roles.protocol import open_steps
    from rounds.protocols import protocol_of

    return [step.id for step in open_steps(protocol_of(state.opened), state)]
