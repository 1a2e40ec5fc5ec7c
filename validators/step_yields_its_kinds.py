"""KND001, error: a step yields what the table says a step of its phase yields, and nothing else.

A decision slipped into a review, or a claim into the synthesis, would bypass whoever should have tested it.
Source: FORMAT 5 ("What the steps yield"), SD-18, SD-19.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ledger.events import Concern, Decision, Event, Statement, Verification
from validators.reading.docket import Docket, group_key
from validators.reading.rule import Breach, Rule

YIELDS: Final[Mapping[str, frozenset[str]]] = {
    "B": frozenset({"statement proposal"}),
    "C": frozenset({"statement supplement"}),
    "D": frozenset({"artifact", "claim"}),
    "E.position": frozenset({"position"}),
    "E.checks": frozenset({"verification check"}),
    "E.check3": frozenset({"verification check"}),
    "F": frozenset({"statement review", "flip", "claim", "concern tension"}),
    "G": frozenset({"statement assessment", "decision round", "concern"}),
    "H": frozenset({"drift_check"}),
    "S.resolve": frozenset({"verification synthesis_resolution"}),
    "S.review": frozenset({"statement retrospective"}),
    "S.close": frozenset({"statement summary", "decision final"}),
}
"""Group of the protocol `structured` → kinds (with type) that its steps yield."""


def check(docket: Docket) -> Iterator[Breach]:
    """Events of a step that the table does not name; unknown phases and acts too."""
    if not docket.structured:
        return
    for event, step in zip(docket.events, docket.steps, strict=True):
        if step is None:
            continue
        _, phase, act = group_key(step)
        group = f"{phase}.{act}" if act else phase
        allowed = YIELDS.get(group)
        if allowed is None:
            yield Breach(event.seq, f"{event.step} is no step of this protocol")
        elif not allowed.intersection((event.kind, _typed(event))):
            yield Breach(
                event.seq, f"{event.step} yields a {_typed(event)}; it may yield {', '.join(sorted(allowed))}"
            )


def _typed(event: Event) -> str:
    match event:
        case Statement() | Concern() | Decision():
            return f"{event.kind} {event.type}"
        case Verification():
            return f"verification {'check' if event.check_id <= 4 else event.check}"
        case _:
            return event.kind


RULE: Final = Rule(
    code="KND001",
    name="step_yields_its_kinds",
    severity="error",
    summary="A step yields what the table of its protocol says, and nothing else.",
    check=check,
    applies_to_imports=False,
)
