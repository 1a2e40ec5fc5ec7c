"""REF006, error: goals and options that an event names are those of the run's opening.

Drift is measured by what serves which goal; a goal made up on the way would always be served.
Source: FORMAT 2, FORMAT 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Artifact, DriftCheck, Event
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Goals and options that the opening does not list."""
    if docket.opened is None:
        return
    goals = {entry.id for entry in docket.opened.goals}
    options = {entry.id for entry in docket.opened.options}
    for event in docket.events:
        for goal in _goals(event):
            if goal not in goals:
                yield Breach(event.seq, f"{goal!r} is no goal of this run")
        for option in _options(event):
            if option not in options:
                yield Breach(event.seq, f"{option!r} is no option of this run")


def _goals(event: Event) -> Iterator[str]:
    anchor = getattr(event, "anchor_ref", None)
    if isinstance(anchor, str):
        yield anchor
    if isinstance(event, Artifact):
        yield from (claim.anchor_ref for claim in event.proposed_claims if claim.anchor_ref is not None)
    if isinstance(event, DriftCheck):
        yield from (entry.goal for entry in event.anchors)


def _options(event: Event) -> Iterator[str]:
    if event.kind != "run_opened":
        yield from getattr(event, "about", ())
        yield from getattr(event, "options", ())
    if isinstance(event, Artifact):
        yield from (option for claim in event.proposed_claims for option in claim.about)


RULE: Final = Rule(
    code="REF006",
    name="goal_and_option_are_known",
    severity="error",
    summary="Goals and options that an event names are those of the run's opening.",
    check=check,
)
