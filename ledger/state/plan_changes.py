"""Plans that change while a run goes on: what an amendment of the plan does to the opening in force (FORMAT 2).

{"what":"plan","change":[{"path":"plan.6.absent","from":null,"to":"critic"}], …}     round 6 is held without the critic
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from ledger.events.decisions import Amendment, Change, PlanRow, RunOpened

_ABSENT: Final = re.compile(r"plan\.([1-9][0-9]*)\.absent")


def absent_path(round_: int) -> str:
    """The path of who is absent from a round."""
    return f"plan.{round_}.absent"


def planned_anew(opened: RunOpened, amendment: Amendment) -> RunOpened:
    """The opening with the rows that an amendment changes; a path that this version does not know changes nothing."""
    absent = {
        int(found[1]): change
        for change in amendment.change
        if (found := _ABSENT.fullmatch(change.path)) is not None
    }
    if amendment.what != "plan" or not absent:
        return opened
    plan = tuple(_row(row, absent.get(row.round)) for row in opened.plan)
    return msgspec.structs.replace(opened, plan=plan)


def _row(row: PlanRow, change: Change | None) -> PlanRow:
    if change is None or not (change.to is None or isinstance(change.to, str)):
        return row
    return msgspec.structs.replace(row, absent=change.to)
