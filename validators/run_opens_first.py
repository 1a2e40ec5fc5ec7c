"""ORD001, error: a run is opened by its first event, again only by a fork, and seq counts from 0 without a gap.

Everything is read against the opening: the cast, the goals, the plan, the documents. Source: FORMAT 1, FORMAT 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import RunOpened
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """A missing, late or second opening, one that its protocol cannot run, and every seq that is not its place.

    The opening of a fork names the event before it, by number and hash: the run that it shares everything before with.
    """
    if docket.events and docket.opened is None:
        yield Breach(docket.events[0].seq, f"the first event is a {docket.events[0].kind}, not run_opened")
    if docket.opened is not None and docket.opening_problem is not None:
        yield Breach(
            docket.opened.seq, f"the run cannot be played as it was opened: {docket.opening_problem}"
        )
    for place, event in enumerate(docket.events):
        if event.seq != place:
            yield Breach(event.seq, f"seq {event.seq} stands at place {place}")
        if place and isinstance(event, RunOpened) and not _parts_here(event):
            yield Breach(event.seq, "the run is opened a second time")


def _parts_here(event: RunOpened) -> bool:
    """Whether an opening says truly that a fork begins with it."""
    origin = event.origin
    return origin.type == "fork" and (origin.seq, origin.head) == (event.seq - 1, event.prev)


RULE: Final = Rule(
    code="ORD001",
    name="run_opens_first",
    severity="error",
    summary="A run is opened by its first event, again only by a fork, and seq counts from 0 without a gap.",
    check=check,
)
