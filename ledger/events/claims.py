"""What is asserted: the kinds of `claims.jsonl` (FORMAT 2)."""

from typing import Any, Literal

from ledger.events.envelope import Envelope
from ledger.events.values import (
    CheckId,
    Evidence,
    Five,
    Id,
    Name,
    Nat,
    Percent,
    Positive,
    Prose,
    Ref,
    Role,
    Round,
    Section,
    Value,
    Whole,
)

StatementType = Literal[
    "proposal",
    "supplement",
    "assessment",
    "analysis",
    "opening",
    "closing",
    "plan",
    "steelman",
    "case",
    "summary",
    "review",
    "retrospective",
]
ArtifactType = Literal[
    "behavioral_trace_set",
    "identity_invariant_check",
    "operator_walkthrough",
    "adversarial_test_case",
    "test_plan",
]
Scale = Literal[
    "severity_1_5",
    "effectiveness_1_5",
    "priority_p",
    "weight_hml",
    "criterion_1_5",
    "sighting",
    "confidence_1_5",
]
HowTested = Literal["execution", "calculation", "document", "person", "judgement"]
"""What a claim could be tested by."""
Stance = Literal["BROKEN", "ROBUST", "UNCLEAR", "for", "against", "abstain"]


class Finding(Value, frozen=True, kw_only=True):
    """Something that an artifact lists; its anchor is `finding-k`."""

    section: Name
    text: Prose


class ProposedClaim(Value, frozen=True, kw_only=True):
    """A claim as an artifact proposes it, before it has an id."""

    section: Name
    text: Prose
    testable_as: Prose
    anchor_ref: Id | None = None
    about: tuple[Id, ...] = ()
    supersedes: Id | None = None


class Sighting(Value, frozen=True, kw_only=True):
    """A role that saw what a claim says, in a round (imports only)."""

    role: Role
    round: Round


class Effect(Value, frozen=True, kw_only=True):
    """What a claim would change: the option whose points it moves most, and by how many."""

    option: Id
    direction: Literal["for", "against"]
    points: Percent


class Statement(Envelope, frozen=True, kw_only=True):
    """Prose of one role in named sections (SD-18)."""

    kind: Literal["statement"] = "statement"
    type: StatementType
    sections: tuple[Section, ...]
    words: Nat
    responds_to: tuple[Id, ...] = ()
    options: tuple[Id, ...] = ()


class Artifact(Envelope, frozen=True, kw_only=True):
    """What a role makes in phase D; `body` has the shape that `type` names (artifacts.py; SD-2 … SD-16)."""

    kind: Literal["artifact"] = "artifact"
    role: Role
    type: ArtifactType
    body: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    proposed_claims: tuple[ProposedClaim, ...] = ()
    cites: tuple[Ref, ...] = ()
    self_assessment: Five | None = None
    minutes: Nat | None = None
    words: Nat


class Claim(Envelope, frozen=True, kw_only=True):
    """A testable assertion. Its status is never stored (SD-42, SD-44, SD-57)."""

    kind: Literal["claim"] = "claim"
    raised_by: Role
    text: Prose
    testable_as: Prose
    supersedes: Id | None = None
    raised_at_artifact: Ref | None = None
    anchor_ref: Id | None = None
    about: tuple[Id, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    how: HowTested | None = None
    moves: tuple[Effect, ...] = ()
    places: tuple[Ref, ...] = ()


class Assumption(Envelope, frozen=True, kw_only=True):
    """A choice that a plan makes (JB-2, JB-9)."""

    kind: Literal["assumption"] = "assumption"
    text: Prose
    unrequested: bool | None = None
    section: Name | None = None


class Argument(Envelope, frozen=True, kw_only=True):
    """A claim with reasoning and evidence, for one side (XS-2, XS-13)."""

    kind: Literal["argument"] = "argument"
    label: Name
    side: Name
    claim: Prose
    reasoning: Prose
    evidence: Prose
    quotes: tuple[Evidence, ...] = ()


class Concern(Envelope, frozen=True, kw_only=True):
    """A concern, a tension between roles, a question, or what would defeat an option (SD-18 G, AD-4, XS-11)."""

    kind: Literal["concern"] = "concern"
    type: Literal["concern", "tension", "question", "defeater"]
    text: Prose
    severity: Five | None = None
    rank: Positive | None = None
    evidence: tuple[Evidence, ...] = ()
    risk: Prose | None = None
    fix: Prose | None = None
    between: tuple[Id, ...] = ()
    for_human: bool = False
    sightings: tuple[Role, ...] = ()


class Rating(Envelope, frozen=True, kw_only=True):
    """A value on a named scale (AD-5, AD-28)."""

    kind: Literal["rating"] = "rating"
    of: Id
    scale: Scale
    value: Whole | str
    criterion: Name | None = None
    reason: Prose


class Position(Envelope, frozen=True, kw_only=True):
    """A stance sealed before the verdict is known (DETECTORS FM-1)."""

    kind: Literal["position"] = "position"
    on: Id
    check_id: CheckId | None = None
    stance: Stance
    confidence: Five | None = None
    reason: Prose
