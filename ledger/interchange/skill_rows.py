"""The rows of a `skill` state directory, one type a file; `run.json` and `concerns.jsonl` are moot's own additions.

A key that is UNSET was not in the row; writing leaves it out again. Rule ids: SD-27 … SD-47, SD-52, SD-58, FORMAT 12.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ledger.events.decisions import Relation
from ledger.events.values import ROLE_PATTERN, Bearing, Five, Long, Nat, Prose, Result, Round, Status
from ledger.events.verifications import Check

Author = Literal["action", "guardian", "observer", "critic"]
AUTHORS: Final[tuple[Author, ...]] = ("action", "guardian", "observer", "critic")
Lead = Literal["action", "guardian", "observer", "critic", "system", "none"]
Verdict = Literal["BROKEN", "ROBUST", "UNCLEAR"]
DecisionType = Literal["round", "final", "override", "answer", "gate"]
Maker = Literal["consensus", "round_lead", "adversary_concession", "judge", "resolver", "human", "rule"]
CiteType = Literal["claim", "verification", "decision", "concern", "challenge", "argument", "drift_check"]

Key = Annotated[str, Meta(min_length=1, max_length=200)]
Pointer = Annotated[str, Meta(max_length=500)]
"""A place, verbatim; an empty one is read as none."""


class Row(Struct, frozen=True, kw_only=True):
    """A line of a state directory."""


class SightingRow(Row, frozen=True, kw_only=True):
    """A role that saw a claim's matter in a round."""

    role: Author
    round: Round


class ClaimRow(Row, frozen=True, kw_only=True):
    """claims.jsonl (SD-42). `phase` is written for claims of another phase than D only."""

    id: Key
    round: Round
    raised_by: Author
    text: Prose | None = ""
    testable_as: Prose | None = ""
    status: Status | UnsetType | None = UNSET
    supersedes: Annotated[str, Meta(max_length=200)] | UnsetType | None = UNSET
    raised_at_artifact: Pointer | UnsetType | None = UNSET
    anchor_ref: Prose | UnsetType | None = UNSET
    sightings: tuple[SightingRow, ...] | UnsetType | None = UNSET
    phase: Literal["B", "C", "D", "E", "F", "G", "S"] | UnsetType = UNSET


class ChangeRow(Row, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A status change inside a verification; a bearing that `to` does not imply is written."""

    claim_id: Key
    from_: Status | UnsetType | None = UNSET
    to: Status
    bearing: Bearing | UnsetType = UNSET


class FlipRow(Row, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A changed position inside a verification; `because` names the new evidence."""

    role: Author
    to: Verdict
    from_: Verdict | UnsetType | None = UNSET
    because: Pointer | tuple[Pointer, ...] | UnsetType | None = UNSET


class VerificationRow(Row, frozen=True, kw_only=True):
    """verifications.jsonl (SD-37). Without `check` the number in the id says which of the four it is."""

    id: Key
    round: Round
    check: Check | UnsetType = UNSET
    result: Result
    evidence_refs: tuple[Pointer, ...] | Pointer | None = ()
    notes: Prose | None = ""
    claims_affected: tuple[Key, ...] | None = ()
    claim_status_changes: tuple[ChangeRow, ...] | None = ()
    confidence: Five | UnsetType | None = UNSET
    positions_pre: dict[Author, Verdict] | UnsetType | None = UNSET
    positions_post: dict[Author, Verdict] | UnsetType | None = UNSET
    flips: tuple[FlipRow, ...] | UnsetType | None = UNSET
    repeats: Key | UnsetType | None = UNSET


class CiteRow(Row, frozen=True, kw_only=True):
    """What a decision rests on."""

    type: CiteType
    id: Key
    relation: Relation


class DecisionRow(Row, frozen=True, kw_only=True):
    """decisions.jsonl (SD-47). `type` is written when it is not `round`."""

    id: Key
    round: Round
    text: Prose | None = ""
    cites: tuple[CiteRow, ...] | None = ()
    made_by: Maker
    round_artifact_refs: tuple[Pointer, ...] | UnsetType | None = UNSET
    anchor_ref: Prose | UnsetType | None = UNSET
    type: DecisionType | UnsetType = UNSET


class CountRow(Row, frozen=True, kw_only=True):
    """Findings that an artifact lists, and those that became no claim."""

    listed: Nat
    unlinked: Nat


class LeadRow(Row, frozen=True, kw_only=True):
    """lead_history.jsonl (SD-52)."""

    round: Round
    lead: Lead | UnsetType | None = UNSET
    is_stress: bool | UnsetType | None = UNSET
    absent_agent: Author | Literal["none"] | UnsetType | None = UNSET
    planned_stress: Author | UnsetType | None = UNSET
    findings: dict[Author, CountRow] | UnsetType | None = UNSET


class DriftRow(Row, frozen=True, kw_only=True):
    """drift_checks.jsonl (SD-58). `addresses` is the round of an earlier drift check that this answers."""

    round: Round
    verdict: Literal["PASS", "FAIL", "PARTIAL"]
    deviation_score: Five
    notes: Prose | None = ""
    addresses: Round | UnsetType | None = UNSET


class ConcernRow(Row, frozen=True, kw_only=True):
    """concerns.jsonl: tensions, concerns and questions, which the published layout has no file for."""

    id: Key
    round: Round
    type: Literal["concern", "tension", "question"]
    text: Prose | None = ""
    between: tuple[Key, ...] = ()
    severity: Five | UnsetType | None = UNSET
    for_human: bool | UnsetType = UNSET


class PlannedRound(Row, frozen=True, kw_only=True):
    """One row of the plan in run.json."""

    round: Round
    absent: Annotated[str, Meta(pattern=ROLE_PATTERN)] | None = None
    drift: bool = False
    phases: tuple[Annotated[str, Meta(max_length=200)], ...] = ()
    focus: Prose | None = None


class RunFile(Row, frozen=True, kw_only=True):
    """run.json: the question, the goals and the plan, which the published layout has no file for."""

    question: Long = ""
    domain: Prose | None = None
    goals: tuple[Prose, ...] = ()
    plan: tuple[PlannedRound, ...] = ()


FILES: Final[dict[str, type[Row]]] = {
    "claims.jsonl": ClaimRow,
    "verifications.jsonl": VerificationRow,
    "decisions.jsonl": DecisionRow,
    "lead_history.jsonl": LeadRow,
    "drift_checks.jsonl": DriftRow,
    "concerns.jsonl": ConcernRow,
    "run.json": RunFile,
}
"""File → the type of its rows; `run.json` is one object, the others are JSON Lines."""
PUBLISHED: Final = tuple(name for name in FILES if name not in ("concerns.jsonl", "run.json"))
"""The files of the published layout; a directory with none of them is no state directory."""

REMEMBERED: Final[dict[str, tuple[str, ...]]] = {
    "claims.jsonl": ("status", "supersedes", "raised_at_artifact", "anchor_ref", "sightings"),
    "verifications.jsonl": ("confidence", "positions_pre", "positions_post", "flips"),
    "decisions.jsonl": ("round_artifact_refs", "anchor_ref"),
    "lead_history.jsonl": ("lead", "is_stress", "absent_agent", "planned_stress", "findings"),
}
"""Keys that a row may lack: `run_opened.rules.skill_keys` remembers which of them a source had."""
OWN_KEYS: Final = frozenset(
    f"{name.removesuffix('.jsonl')}.{key}" for name, keys in REMEMBERED.items() for key in keys
) - {"claims.sightings"}
"""Keys that a run of our own writes; sightings only where there are any."""


def known_keys(row_type: type[Row]) -> frozenset[str]:
    """The JSON keys of a row type."""
    return frozenset(field.encode_name for field in msgspec.structs.fields(row_type))
