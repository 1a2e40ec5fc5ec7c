"""ORD006, error: after a run has finished, only a person may still answer, override, close an alarm, note or redact.

What is added to a finished run would change its outcome behind the stop that was announced. Source: FORMAT 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Alarm, Amendment, Decision, Event, RunClosed
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Events behind the finish that are not among the permitted ones."""
    finished = False
    for event in docket.events:
        if finished and not _may_follow(event):
            yield Breach(event.seq, f"a {event.kind} by {event.by} follows the end of the run")
        finished = finished or (isinstance(event, RunClosed) and event.state == "finished")


def _may_follow(event: Event) -> bool:
    if event.by != "human":
        return False
    match event:
        case (
            Decision(type="override" | "answer")
            | Alarm(action="closed")
            | Amendment(what="note" | "redaction")
        ):
            return True
        case _:
            return False


RULE: Final = Rule(
    code="ORD006",
    name="nothing_follows_the_end",
    severity="error",
    summary="After the finish only a person may answer, override, close an alarm, note or redact.",
    check=check,
)
