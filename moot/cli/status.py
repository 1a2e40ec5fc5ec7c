"""`moot status`: where a run stands."""

from __future__ import annotations

from ledger.state.state import State
from moot.api import open_run
from moot.app.runs import find_run
from moot.app.signals import signals_at_head
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import GOOD
from moot.terminal.streams import columns, out_json, show
from moot.view.banners import beside_outcome, tally
from moot.view.outcome_text import outcome_first
from moot.view.status import status_text


def status(run: RunArgument, json: JsonOption = False, quiet: QuietOption = False) -> int:
    """Say where a run stands: round and phase, leads, stress, drift, cost, the stop signals as they read now.

    Example: moot status @last
    """
    ours = open_run(find_run(run))
    if json:
        from ledger.store.spending import Spending
        from moot.view.costs import costs_of
        from moot.view.status import Ledgered, status_of
        from rounds.run.budget import Reservations

        ledgered = Ledgered()
        state, _ = tally(ledgered.seen(ours.events))
        beyond = Reservations(Spending(ours.path).entries()).beyond
        report = signals_at_head(ours, state)
        each = costs_of(ours.book).each
        out_json(status_of(str(ours.path), state, ledgered.parts(), beyond, report, ours.outcome, each))
        return GOOD
    state, _ = tally(ours.events)
    if not quiet:
        report = signals_at_head(ours, state)
        show(outcome_first(ours.outcome, ours.quorum, str(ours.path), columns()))
        show(status_text(ours.path, state, beside_outcome(state), _open_steps(state), report))
    return GOOD


def _open_steps(state: State) -> list[str]:
    """Ids of the open steps; the protocols are read only for a run that still has some."""
    if state.finished or state.opened is None:
        return []
    from roles.protocol import open_steps
    from rounds.protocols import protocol_of

    return [step.id for step in open_steps(protocol_of(state.opened), state)]
