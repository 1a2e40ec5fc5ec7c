"""Amendments: what they do to a run, and the redactions that they record (FORMAT 2, 8).

{"what":"plan","change":[{"path":"plan.6.absent","from":null,"to":"critic"}], …}     round 6 has no critic
{"what":"note","change":[{"path":"run","from":"stopped","to":"running"}], …}         a stopped run goes on
{"what":"redaction","change":[{"path":"blobs/<sha256>","from":"<sha256>","to":null}], …}

A finish is final. A stop holds until the run really goes on: a seat or the controller writes again, or a driver records
that it does. What a person adds meanwhile (a note, an answer, an override, an acknowledgement, a redaction) restarts
nothing, so the stop stays. A blob that is missing without a redaction is damage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from ledger.events import Amendment, Event
from ledger.events.laws import HASH
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


PLACE: Final = "blobs/"
ORIGINAL: Final = "original"
"""In a redacted copy, the change that leads from the old head to the blob with the hashes of the old lines."""
LINE: Final = re.compile(r"@(0|[1-9][0-9]{0,15})(\.origin)?")


def redacted_blobs(event: Event) -> Iterator[str]:
    """Yield hashes of the blobs that an event says are removed on purpose."""
    # Only a person redacts. A seat that could record this would be able to excuse missing evidence.
    if isinstance(event, Amendment) and event.what == "redaction" and event.by == "human":
        for change in event.change:
            sha256 = change.path.removeprefix(PLACE)
            if change.path != sha256 and change.from_ == sha256 and change.to is None and HASH.fits(sha256):
                yield sha256


def reworded(event: Event) -> Iterator[int]:
    """Yield the events in which words were replaced, as a redacted copy lists them."""
    if isinstance(event, Amendment) and event.what == "redaction":
        for change in event.change:
            match = LINE.fullmatch(change.path)
            if match is not None and match[2] is None:
                yield int(match[1])


def record_of_original(event: Event) -> str | None:
    """Return the hash of the blob that lists the lines of a redacted copy's original, if the event names one."""
    if isinstance(event, Amendment) and event.what == "redaction":
        for change in event.change:
            if change.path == ORIGINAL and isinstance(change.to, str) and HASH.fits(change.to):
                return change.to
    return None
