"""AUT003, error: the controller, a person and an import write only what is theirs; a role writes only in a step.

A claim by the controller would be an argument of the machinery, and a role outside its steps would have no brief.
Source: FORMAT 1 (10, 11), FORMAT 8, DESIGN 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Alarm, Amendment, Concern, Decision, Event, Verification, Vote
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

CONTROLLER: Final = frozenset(
    {
        "run_opened",
        "round_opened",
        "screening",
        "validation",
        "signals",
        "alarm",
        "amendment",
        "fallback",
        "ruling",
        "score",
        "run_closed",
    }
)


def check(docket: Docket) -> Iterator[Breach]:
    """Events whose author may not write them."""
    for event in docket.events:
        if event.by == "import":
            if not docket.is_imported(event.seq):
                yield Breach(event.seq, f"a {event.kind} by import in a run that was not imported")
        elif event.by in ("controller", "human"):
            if event.step is not None or not _may_write(event, docket.structured):
                yield Breach(event.seq, f"a {event.kind} is not for the {event.by} to write")
        elif event.step is None and not docket.is_imported(event.seq):
            yield Breach(event.seq, f"a {event.kind} by {event.by} outside every step")


def _may_write(event: Event, structured: bool) -> bool:
    if event.by == "controller":
        allowed = event.kind in CONTROLLER or isinstance(event, Verification) or _rule_decision(event)
        return allowed or (not structured and _stands_in(event))
    match event:
        case Decision(type="override" | "answer") | Alarm(action="closed") | Amendment():
            return True
        case _:
            return False


def _stands_in(event: Event) -> bool:
    """What a short protocol puts in the place of a lost reply, or puts to a person; FLW002 says whether it is due."""
    return isinstance(event, Concern) or (isinstance(event, Vote) and event.fallback)


def _rule_decision(event: Event) -> bool:
    return isinstance(event, Decision) and event.made_by == "rule"


RULE: Final = Rule(
    code="AUT003",
    name="author_may_write_this",
    severity="error",
    summary="Controller, person and import write only what is theirs; a role writes only in a step.",
    check=check,
)
