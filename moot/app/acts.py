"""What a person adds to a run, as the verbs answer, override, ack and note do it."""

from __future__ import annotations

from collections.abc import Callable

from ledger.events import Event
from moot.app.sessions import names, open_session
from moot.errors import GOOD
from moot.terminal.streams import out_json, show
from moot.view.lines import event_line
from moot.view.results import Act
from rounds.run.session import RunSession


def add(run: str, act: Callable[[RunSession], tuple[Event, ...]], *, json: bool, quiet: bool) -> int:
    """Do `act` on a run and say what it wrote. Raises what `act` raises."""
    session = open_session(run)
    events = act(session)
    if json:
        out_json(Act(run=str(session.run.path), events=names(events)))
    elif not quiet:
        show("".join(f"{event_line(event)}\n" for event in events))
    return GOOD
