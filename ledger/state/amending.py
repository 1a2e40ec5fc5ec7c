"""Effects of amendments on a run: the plan in force, and a stop that the run goes on from (FORMAT 2).

{"what":"plan","change":[{"path":"plan.6.absent","from":null,"to":"critic"}], …}     round 6 is held without the
critic
{"what":"note","change":[{"path":"run","from":"stopped","to":"running"}], …}         a stopped run goes on

A finish is final. A stop holds until the run really goes on: a seat or the controller writes again, or a driver
records
that it does. What a person adds meanwhile (a note, an answer, an override, an acknowledgement, a redaction) restarts
nothing, so the stop stays.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

from ledger.events import Amendment, Event
from ledger.events.run import Change, PlanRow, RunOpened

Life = Literal["running", "stopped", "finished"]
"""State of a run; a stopped one can go on."""

LIFE_PATH: Final = "run"
"""Path of the change in a note by which a driver says that a stopped run goes on."""
GOES_ON: Final = Change(path=LIFE_PATH, from_="stopped", to="running")
STOP_PATH: Final = "stopped"
"""Path of the change in a note by which a driver says in words why it stopped the run."""
_ABSENT: Final = re.compile(r"plan\.([1-9][0-9]*)\.absent")


def ends_stop(event: Event) -> bool:
    """Return whether a stopped run goes on with this event."""
    if event.by != "human":
        return True
    return isinstance(event, Amendment) and (event.what == "budget" or GOES_ON in event.change)


def absent_path(round_: int) -> str:
    """Return the path of the absent role of a round, as amendments name it."""
    return f"plan.{round_}.absent"


def planned_anew(opened: RunOpened, amendment: Amendment) -> RunOpened:
    """Return the opening with the rows that an amendment changes; unknown paths change nothing."""
    absent = {
        int(match[1]): change
        for change in amendment.change
        if (match := _ABSENT.fullmatch(change.path)) is not None
    }
    if amendment.what != "plan" or not absent:
        return opened
    plan = tuple(_row(row, absent.get(row.round)) for row in opened.plan)
    return msgspec.structs.replace(opened, plan=plan)


def _row(row: PlanRow, change: Change | None) -> PlanRow:
    if change is None or not (change.to is None or isinstance(change.to, str)):
        return row
    return msgspec.structs.replace(row, absent=change.to)
