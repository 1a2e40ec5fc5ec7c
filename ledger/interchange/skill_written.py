"""The rows that a run becomes: statuses from the fold, refs as paths, optional keys as the source had them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ledger.events import (
    Artifact,
    Claim,
    Concern,
    Decision,
    DriftCheck,
    Rating,
    RoundOpened,
    RunOpened,
    Verification,
)
from ledger.events.ids import round_of
from ledger.events.verifications import StatusChange
from ledger.interchange.skill_places import Places
from ledger.interchange.skill_positions import PositionRows
from ledger.interchange.skill_rows import OWN_KEYS
from ledger.interchange.skill_statuses import by_check, just_before
from ledger.state.book import Book
from ledger.state.lifecycle import BEARING_OF_STATUS

Content = dict[str, Any]


class WrittenRows:
    """The rows of a run, file by file. `keys` are the optional keys to write even when they are empty."""

    def __init__(self, book: Book, opened: RunOpened) -> None:
        self.book = book
        self.places = Places(book)
        self.imported = opened.origin.type == "import" and opened.origin.tool == "skill"
        listed = opened.rules.get("skill_keys")
        self.keys = frozenset(str(listed).split()) if self.imported and listed is not None else OWN_KEYS
        self._goals = {goal.id: goal.text for goal in opened.goals}
        self._sightings = _sightings(book)
        self._just_before = just_before(book)
        self._positions = PositionRows(book, self.places)

    def _optional(self, key: str, value: Any, empty: Any = None) -> Any:
        """`value`; when it says nothing, `empty` if the key is to be there and UNSET otherwise."""
        if value is not None and value != () and value != {}:
            return value
        return empty if key in self.keys else UNSET

    def _anchor(self, goal: str | None) -> str | None:
        return None if goal is None else self._goals.get(goal, goal)

    def claims(self) -> Iterator[Content]:
        """claims.jsonl."""
        for event in self.book.of(Claim):
            at = self.places.ref(event.raised_at_artifact, event.by) if event.raised_at_artifact else None
            sightings = event.sightings or self._sightings.get(event.id or "", ())
            status = self.book.state.claims[event.id or ""].status
            yield {
                "id": event.id,
                "round": event.round,
                "raised_by": event.raised_by,
                "text": event.text,
                "testable_as": event.testable_as,
                "status": status if "claims.status" in self.keys else UNSET,
                "supersedes": self._optional("claims.supersedes", event.supersedes),
                "raised_at_artifact": self._optional("claims.raised_at_artifact", at),
                "anchor_ref": self._optional("claims.anchor_ref", self._anchor(event.anchor_ref)),
                "sightings": self._optional("claims.sightings", sightings, ()),
                "phase": UNSET if event.phase == "D" else event.phase,
            }

    def verifications(self) -> Iterator[Content]:
        """verifications.jsonl by check id; the keys for positions are there when positions were taken."""
        for event in sorted(self.book.of(Verification), key=by_check):
            yield {
                "id": event.id,
                "round": event.round,
                "check": event.check,
                "result": event.result,
                "evidence_refs": [self.places.ref(one.ref, event.by) for one in event.evidence_refs],
                "notes": event.notes,
                "claims_affected": event.claims_affected,
                "claim_status_changes": [self._change(event, one) for one in event.claim_status_changes],
                "confidence": UNSET if event.confidence is None else event.confidence,
                **self._positions.of(event, self.keys),
                "repeats": UNSET if event.repeats is None else event.repeats,
            }

    def _change(self, event: Verification, change: StatusChange) -> Content:
        found = self._just_before.get((event.id or "", change.claim_id), change.from_)
        stated = change.from_ if event.by == "import" else found
        row: Content = {"claim_id": change.claim_id, "from": stated, "to": change.to}
        implied = BEARING_OF_STATUS.get(change.to, "inconclusive")
        return row if change.bearing == implied else row | {"bearing": change.bearing}

    def decisions(self) -> Iterator[Content]:
        """decisions.jsonl."""
        for event in self.book.of(Decision):
            refs = tuple(self.places.ref(ref, event.by) for ref in event.round_artifact_refs)
            yield {
                "id": event.id,
                "round": event.round,
                "text": event.text,
                "cites": event.cites,
                "made_by": event.made_by,
                "round_artifact_refs": self._optional("decisions.round_artifact_refs", refs, ()),
                "anchor_ref": self._optional("decisions.anchor_ref", self._anchor(event.anchor_ref)),
                "type": UNSET if event.type == "round" else event.type,
            }

    def leads(self) -> Iterator[Content]:
        """lead_history.jsonl; a round that an import only inferred has no row."""
        for event in self.book.of(RoundOpened):
            said = (event.lead, event.absent, event.planned_stress, event.findings)
            if event.by == "import" and said == (None, None, None, None):
                continue
            yield self._lead(event)

    def _lead(self, event: RoundOpened) -> Content:
        findings = self._findings(event)
        planned: Any = event.planned_stress
        if "lead_history.planned_stress" not in self.keys and event.planned_stress == event.absent:
            planned = UNSET
        return {
            "round": event.round,
            "lead": self._optional("lead_history.lead", event.lead),
            "is_stress": event.absent is not None if "lead_history.is_stress" in self.keys else UNSET,
            "absent_agent": self._optional("lead_history.absent_agent", event.absent),
            "planned_stress": planned,
            "findings": self._optional("lead_history.findings", None) if findings is None else findings,
        }

    def _findings(self, event: RoundOpened) -> Content | None:
        if event.findings is not None:
            return {one.role: {"listed": one.listed, "unlinked": one.unlinked} for one in event.findings}
        if event.by == "import":
            return None
        linked = {claim.raised_at_artifact for claim in self.book.of(Claim)}
        return {
            made.role: {
                "listed": len(made.findings),
                "unlinked": sum(
                    f"{made.id}#finding-{k}" not in linked for k in range(1, len(made.findings) + 1)
                ),
            }
            for made in self.book.of(Artifact, event.round)
        }

    def drift_checks(self) -> Iterator[Content]:
        """drift_checks.jsonl."""
        for event in self.book.of(DriftCheck):
            earlier = round_of(event.addresses) if event.addresses else None
            yield {
                "round": event.round,
                "verdict": event.verdict,
                "deviation_score": event.deviation_score,
                "notes": event.notes,
                "addresses": UNSET if earlier is None else earlier,
            }

    def concerns(self) -> Iterator[Content]:
        """concerns.jsonl."""
        for event in self.book.of(Concern):
            yield {
                "id": event.id,
                "round": event.round,
                "type": event.type,
                "text": event.text,
                "between": event.between,
                "severity": UNSET if event.severity is None else event.severity,
                "for_human": event.for_human or UNSET,
            }


def _sightings(book: Book) -> dict[str, tuple[Content, ...]]:
    """Sightings of our own runs, which are ratings."""
    found: dict[str, tuple[Content, ...]] = {}
    for event in book.of(Rating):
        if event.scale == "sighting":
            found[event.of] = (*found.get(event.of, ()), {"role": event.by, "round": event.round})
    return found


def jsonl(rows: Iterable[Content]) -> bytes:
    """Rows as JSON Lines."""
    encode = msgspec.json.encode
    return b"".join(encode(_present(row)) + b"\n" for row in rows)


def _present(row: Content) -> Content:
    """A row without its UNSET keys."""
    return {key: value for key, value in row.items() if not isinstance(value, UnsetType)}
