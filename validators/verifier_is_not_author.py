"""AUT001, error: whoever tests something did not write it, and the neutral verifier writes nothing that is tested.

Otherwise an author could confirm its own claim, which is the agreement that looks robust and is not.
Source: SD-27 … SD-32, DESIGN 4 (neutral `verifier`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Artifact, Claim, Event, Verification
from ledger.ids import parse_reference
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

TESTS: Final = frozenset({"verification", "drift_check"})
"""What the role `verifier` may write."""


def check(docket: Docket) -> Iterator[Breach]:
    """Verdicts on one's own claims or artifacts, and anything but verdicts by the verifier."""
    for event in docket.events:
        if event.by == "verifier" and event.kind not in TESTS:
            yield Breach(event.seq, f"the verifier authors a {event.kind}")
        if isinstance(event, Verification) and event.by in docket.roles:
            for thing in _tested(event, docket):
                if _author(thing) == event.by:
                    yield Breach(event.seq, f"{event.by} tests {thing.id}, which {event.by} wrote")


def _tested(event: Verification, docket: Docket) -> Iterator[Event]:
    ids = {change.claim_id for change in event.claim_status_changes}
    ids.update(parse_reference(evidence.ref).id for evidence in event.evidence_refs)
    for identity in sorted(ids):
        thing = docket.earlier(identity, event.seq)
        if thing is not None:
            yield thing


def _author(thing: Event) -> str | None:
    match thing:
        case Claim():
            return thing.raised_by
        case Artifact():
            return thing.role
        case _:
            return None


RULE: Final = Rule(
    code="AUT001",
    name="verifier_is_not_author",
    severity="error",
    summary="Whoever tests something did not write it, and the neutral verifier writes only verdicts.",
    check=check,
    applies_to_imports=False,
)
