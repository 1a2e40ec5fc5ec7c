"""Whether a run goes on: which closing holds it, and what ends a stop (FORMAT 2).

A finish is for good. A stop holds until the run really goes on: a seat or the controller writes again, or a driver says
on the ledger that it does. What a person adds meanwhile (a note, an answer, an override, an acknowledgement, a
redaction) wakes nobody, so the stop holds over it.
"""

from __future__ import annotations

from typing import Final, Literal

from ledger.events import Amendment, Event
from ledger.events.decisions import Change

Life = Literal["running", "stopped", "finished"]
"""Where a run stands; a stopped one can go on."""

LIFE_PATH: Final = "run"
"""Path of the change in a note by which a driver says that a stopped run goes on."""
GOES_ON: Final = Change(path=LIFE_PATH, from_="stopped", to="running")


def ends_stop(event: Event) -> bool:
    """Whether a stopped run goes on with this event."""
    if event.by != "human":
        return True
    return isinstance(event, Amendment) and (event.what == "budget" or GOES_ON in event.change)
