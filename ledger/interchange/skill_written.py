"""Rows of a state directory as an export writes them, and the paths that their refs name (SD-3, SD-5).

Sealed positions and flips become keys of a verification's row: before, after, and what changed (FM-1).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from ledger.events import (
    Artifact,
    Claim,
    Concern,
    Decision,
    DriftCheck,
    Event,
    Flip,
    Rating,
    RoundOpened,
    RunOpened,
    Statement,
    Verification,
)
from ledger.events.decisions import Cite
from ledger.events.ids import event_id, is_id, parse_reference, round_of
from ledger.events.run import ContextDocument
from ledger.events.verifications import StatusChange
from ledger.interchange.skill_checks import checks_of, just_before
from ledger.interchange.skill_rows import OWN_KEYS
from ledger.state.book import Book
from ledger.state.lifecycle import BEARING_OF_STATUS

HELD: Final = frozenset(
    {
        "run_opened",
        "round_opened",
        "claim",
        "verification",
        "decision",
        "drift_check",
        "concern",
        "position",
        "flip",
        "artifact",
        "statement",
        "experiment_planned",
        "experiment_judged",
    }
)
"""Kinds that the layout has a place for."""
_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


class Places:
    """Paths of one run. Round numbers are padded alike, so that a sorted listing is in order (SD-69)."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._width = max(2, len(str(max(book.state.rounds, default=0))))
        self.documents: Final = _document_paths(book.state.opening)
        """Id of a context document → its path."""

    def round_file(self, round_: int) -> str:
        """Return the path of the file with a round's claims, tests and decisions."""
        return f"rounds/round_{round_:0{self._width}}.md"

    def of(self, event: Event) -> str:
        """Return the path of the file that holds an event's words."""
        folder = f"round_{event.round:0{self._width}}"
        match event:
            case Artifact():
                name = event.id.removeprefix(f"{event_id('artifact', event.round)}-")
                return f"artifacts/{folder}/{name}.md"
            case Statement():
                return f"statements/{folder}/{event.id}.md"
            case _:
                return self.round_file(event.round)

    def ref(self, ref: str, by: str) -> str:
        """Return a ref as a path. Refs that an import wrote, or that resolve to nothing, stay as they are."""
        if by == "import":
            return ref
        target = parse_reference(ref)
        if target.id in self.documents:
            return self.documents[target.id] + ref.removeprefix(target.id)
        event = self._book.by_id.get(target.id)
        if event is None:
            return ref
        if isinstance(event, Artifact | Statement):
            return self.of(event) + ref.removeprefix(target.id)
        # The anchor must not end in a number: a ref without a section points at a header, not at a line (SD-40).
        return f"{self.of(event)}#{target.id}-text"


def _document_paths(opened: RunOpened) -> dict[str, str]:
    imported = opened.origin.type == "import"
    return {
        # A document's name comes from a file. One with `..` or a drive letter must not leave the export
        # directory.
        document.id: document.name if imported and is_safe(document.name) else _own_path(document)
        for document in opened.context
    }


def _own_path(document: ContextDocument) -> str:
    name = _NAME.sub("-", PurePosixPath(document.name).name).strip("-.") or "document"
    return f"context/{document.id}-{name}"


def is_safe(path: str) -> bool:
    """Return whether writing to `path` stays inside the directory that it is relative to."""
    parts = PurePosixPath(path)
    return (
        bool(path)
        and parts.as_posix() == path
        and not parts.is_absolute()
        and ".." not in parts.parts
        and not any(character in path for character in "\\:\0")
    )


class PositionRows:
    """Positions and flips of a run by the verification that they are about."""

    def __init__(self, book: Book, places: Places) -> None:
        self._before: dict[str, dict[str, str]] = {}
        self._flips: dict[str, list[dict[str, Any]]] = {}
        about: dict[str, str] = {}
        for identity, position in book.state.positions.items():
            about[identity] = position.on
            self._before.setdefault(position.on, {})[position.role] = position.stance
        for event in book.of(Flip):
            facts = book.state.flips[event.id]
            refs = [places.ref(evidence.ref, event.by) for evidence in event.because]
            because = None if not refs else refs[0] if len(refs) == 1 else refs
            if event.of in about:
                row = {"because": because, "role": facts.role, "to": event.to}
                self._flips.setdefault(about[event.of], []).append(row)

    def of(self, event: Verification, keys: frozenset[str]) -> dict[str, Any]:
        """Return `positions_pre`, `positions_post` and `flips` of a verification, as far as `keys` has them."""
        before = self._before.get(event.id)
        if before is None:
            return {}
        flips = self._flips.get(event.id, [])
        after = before | {flip["role"]: flip["to"] for flip in flips}
        columns = {"positions_pre": before, "positions_post": after, "flips": flips}
        own = event.by != "import"
        return {key: value for key, value in columns.items() if own or f"verifications.{key}" in keys}


Content = dict[str, Any]


class WrittenRows:
    """Rows of a run, file by file. `keys` are the optional keys to write even when they are empty."""

    def __init__(self, book: Book, opened: RunOpened) -> None:
        self.book = book
        self.places = Places(book)
        self.imported = opened.origin.type == "import" and opened.origin.tool == "skill"
        listed = opened.rules.get("skill_keys")
        self.keys = frozenset(str(listed).split()) if self.imported and listed is not None else OWN_KEYS
        self._goals = {goal.id: goal.text for goal in opened.goals}
        self._sightings = _sightings(book)
        self.left_out: Final = Counter(
            f"{event.kind} event" for event in book.events if event.kind not in HELD
        )
        self._checks: Final = checks_of(book)
        self._retests = {
            check.evidence_refs[0].ref: check.id for check in self._checks if check.id not in book.by_id
        }
        self._just_before = just_before(book, self._checks)
        self._positions = PositionRows(book, self.places)

    def _optional(self, key: str, value: Any, empty: Any = None) -> Any:
        """Return `value`; when it is empty, `empty` if the key must be present and UNSET otherwise."""
        if value is not None and value != () and value != {}:
            return value
        return empty if key in self.keys else UNSET

    def _anchor(self, goal: str | None) -> str | None:
        return None if goal is None else self._goals.get(goal, goal)

    def claims(self) -> Iterator[Content]:
        """Yield the rows of claims.jsonl."""
        for event in self.book.of(Claim):
            at = self.places.ref(event.raised_at_artifact, event.by) if event.raised_at_artifact else None
            sightings = event.sightings or self._sightings.get(event.id, ())
            status = self.book.state.claims[event.id].status
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
        """Yield the rows of verifications.jsonl by check id. Position keys exist where positions were taken."""
        for event in self._checks:
            yield {
                "id": event.id,
                "round": event.round,
                "check": event.check,
                "result": event.result,
                "evidence_refs": [
                    self.places.ref(evidence.ref, event.by) for evidence in event.evidence_refs
                ],
                "notes": event.notes,
                "claims_affected": event.claims_affected,
                "claim_status_changes": [
                    self._change(event, change) for change in event.claim_status_changes
                ],
                "confidence": UNSET if event.confidence is None else event.confidence,
                **self._positions.of(event, self.keys),
                "repeats": UNSET if event.repeats is None else event.repeats,
            }

    def _change(self, event: Verification, change: StatusChange) -> Content:
        status = self._just_before.get((event.id, change.claim_id), change.from_)
        stated = change.from_ if event.by == "import" else status
        row: Content = {"claim_id": change.claim_id, "from": stated, "to": change.to}
        if change.bearing != BEARING_OF_STATUS.get(change.to, "inconclusive"):
            row |= {"bearing": change.bearing}
        # Without its class, an import would count a move that stronger evidence outweighs.
        return row if change.class_ is None else row | {"class": change.class_}

    def decisions(self) -> Iterator[Content]:
        """Yield the rows of decisions.jsonl."""
        for event in self.book.of(Decision):
            refs = tuple(self.places.ref(ref, event.by) for ref in event.round_artifact_refs)
            yield {
                "id": event.id,
                "round": event.round,
                "text": event.text,
                "cites": list(self._cites(event)),
                "made_by": event.made_by,
                "round_artifact_refs": self._optional("decisions.round_artifact_refs", refs, ()),
                "anchor_ref": self._optional("decisions.anchor_ref", self._anchor(event.anchor_ref)),
                "type": UNSET if event.type == "round" else event.type,
            }

    def _cites(self, event: Decision) -> Iterator[Cite]:
        """Yield the citations of what has a row or a file here; `left_out` counts the others."""
        for cite in event.cites:
            if cite.type == "document":
                yield msgspec.structs.replace(cite, id=self.places.documents.get(cite.id, cite.id))
            elif cite.type == "experiment" and cite.id in self._retests:
                yield msgspec.structs.replace(cite, type="verification", id=self._retests[cite.id])
            elif event.by == "import" or (cite.type in HELD and is_id(cite.id)):
                yield cite
            else:
                self.left_out[f"{cite.type} cite"] += 1

    def leads(self) -> Iterator[Content]:
        """Yield the rows of lead_history.jsonl; a round that an import only inferred has none."""
        for event in self.book.of(RoundOpened):
            content = (event.lead, event.absent, event.planned_stress, event.findings)
            if event.by == "import" and content == (None, None, None, None):
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
            return {
                count.role: {"listed": count.listed, "unlinked": count.unlinked} for count in event.findings
            }
        if event.by == "import":
            return None
        linked = {claim.raised_at_artifact for claim in self.book.of(Claim)}
        return {
            artifact.role: {
                "listed": len(artifact.findings),
                "unlinked": sum(
                    f"{artifact.id}#finding-{k}" not in linked for k in range(1, len(artifact.findings) + 1)
                ),
            }
            for artifact in self.book.of(Artifact, event.round)
        }

    def drift_checks(self) -> Iterator[Content]:
        """Yield the rows of drift_checks.jsonl."""
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
        """Yield the rows of concerns.jsonl."""
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
    """Return claim id → sightings of moot's own runs, which are ratings."""
    sightings: dict[str, tuple[Content, ...]] = {}
    for event in book.of(Rating):
        if event.scale == "sighting":
            sightings[event.of] = (*sightings.get(event.of, ()), {"role": event.by, "round": event.round})
    return sightings


def jsonl(rows: Iterable[Content]) -> bytes:
    """Return rows as JSON Lines, without their UNSET keys."""
    return b"".join(
        msgspec.json.encode({key: value for key, value in row.items() if not isinstance(value, UnsetType)})
        + b"\n"
        for row in rows
    )
