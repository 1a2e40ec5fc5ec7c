"""What is asserted: the kinds of `claims.jsonl` (FORMAT 2)."""

from typing import Any, Literal

from ledger.events.envelope import (
    CheckId,
    Envelope,
    Evidence,
    FailureMode,
    Five,
    HowTested,
    Id,
    Identified,
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
ConcernType = Literal["concern", "tension", "question", "defeater"]
Stance = Literal["BROKEN", "ROBUST", "UNCLEAR", "for", "against", "abstain"]


class Finding(Value, frozen=True, kw_only=True):
    """Something that an artifact lists; its anchor is `finding-k`."""

    section: Name  # anchor in the artifact
    text: Prose  # what was found


class ProposedClaim(Value, frozen=True, kw_only=True):
    """A claim as an artifact proposes it, before it has an id."""

    section: Name  # anchor in the artifact
    text: Prose  # one assertion
    testable_as: Prose  # the test, and its outcome if the claim holds
    anchor_ref: Id | None = None  # the goal that it bears on
    about: tuple[Id, ...] = ()  # options and decisions that it is about
    supersedes: Id | None = None  # the claim that it replaces


class Sighting(Value, frozen=True, kw_only=True):
    """A role that saw what a claim says, in a round (imports only)."""

    role: Role  # who saw it
    round: Round  # when


class Effect(Value, frozen=True, kw_only=True):
    """What a claim would change: the option whose points it moves most, and by how many."""

    option: Id  # an option or none
    direction: Literal["for", "against"]  # whether the claim, if true, speaks for it
    points: Percent  # by how many points, if true against if false


class ModeSeen(Value, frozen=True, kw_only=True):
    """A failure mode on the checklist of a retrospective."""

    mode: FailureMode  # the failure mode
    seen: Literal["yes", "no", "unsure"]  # whether the author saw it


class Statement(Identified, frozen=True, kw_only=True):
    """Prose of one role in named sections (SD-18)."""

    kind: Literal["statement"] = "statement"
    type: StatementType  # what kind of text
    sections: tuple[Section, ...]  # in order
    words: Nat  # counted by moot
    responds_to: tuple[Id, ...] = ()  # what it answers
    options: tuple[Id, ...] = ()  # options that it is about
    # failure modes, as the author of a retrospective saw them
    checklist: tuple[ModeSeen, ...] = ()


class Artifact(Identified, frozen=True, kw_only=True):
    """What a role makes in phase D; `body` has the shape that `type` names (artifacts.py; SD-2 … SD-16)."""

    kind: Literal["artifact"] = "artifact"
    role: Role  # whose kind of artifact it is
    type: ArtifactType  # names the shape of the body
    body: dict[str, Any]  # the shape that type names
    findings: tuple[Finding, ...] = ()  # in order; the k-th is cited as #finding-k
    proposed_claims: tuple[ProposedClaim, ...] = ()  # claims that the artifact offers
    cites: tuple[Ref, ...] = ()  # what it builds on
    self_assessment: Five | None = None  # 1 weak to 5 strong
    minutes: Nat | None = None  # minutes that it took
    words: Nat  # counted by moot


class Claim(Identified, frozen=True, kw_only=True):
    """A testable assertion. Its status is never stored (SD-42, SD-44, SD-57)."""

    kind: Literal["claim"] = "claim"
    raised_by: Role  # the role whose claim it is
    text: Prose  # one assertion
    testable_as: Prose  # the test, and its outcome if the claim holds
    supersedes: Id | None = None  # the claim that it replaces
    raised_at_artifact: Ref | None = None  # section of the artifact that it comes from
    anchor_ref: Id | None = None  # the goal that it bears on
    about: tuple[Id, ...] = ()  # options and decisions that it is about
    sightings: tuple[Sighting, ...] = ()  # who saw it, when (imports only)
    how: HowTested | None = None  # what it could be tested by
    moves: tuple[Effect, ...] = ()  # options that it moves, if it is a crux
    places: tuple[Ref, ...] = ()  # where it was said, or what its text is about


class Assumption(Identified, frozen=True, kw_only=True):
    """A choice that a plan makes (JB-2, JB-9)."""

    kind: Literal["assumption"] = "assumption"
    text: Prose  # what is taken for granted
    unrequested: bool | None = None  # nobody asked for the choice
    section: Name | None = None  # where in the plan


class Argument(Identified, frozen=True, kw_only=True):
    """A claim with reasoning and evidence, for one side (XS-2, XS-13)."""

    kind: Literal["argument"] = "argument"
    label: Name  # PRO-1, CON-2, …
    side: Name  # the side that it speaks for
    claim: Prose  # what it claims
    reasoning: Prose  # why
    evidence: Prose  # what it rests on
    quotes: tuple[Evidence, ...] = ()  # exact words that it uses


class Concern(Identified, frozen=True, kw_only=True):
    """A concern, a tension between roles, a question, or what would defeat an option (SD-18 G, AD-4, XS-11)."""

    kind: Literal["concern"] = "concern"
    # defeater: what would defeat the author's own favourite
    type: ConcernType
    text: Prose  # what worries, or the question
    severity: Five | None = None  # 1 minor to 5 fatal
    rank: Positive | None = None  # from 1, the worst
    evidence: tuple[Evidence, ...] = ()  # what it rests on
    risk: Prose | None = None  # what happens if it is left so
    fix: Prose | None = None  # what would help
    between: tuple[Id, ...] = ()  # roles of a tension; ids that a question is about
    for_human: bool = False  # a person is asked
    sightings: tuple[Role, ...] = ()  # roles that named it, when it was merged
    deciding: Id | None = None  # the option that the answer would change


class Rating(Envelope, frozen=True, kw_only=True):
    """A value on a named scale (AD-5, AD-28)."""

    kind: Literal["rating"] = "rating"
    of: Id  # what is rated
    scale: Scale  # names the range of value
    value: Whole | str  # a number or word of the scale
    criterion: Name | None = None  # by what it is rated
    reason: Prose  # why


class Position(Identified, frozen=True, kw_only=True):
    """A stance sealed before the verdict is known (DETECTORS FM-1)."""

    kind: Literal["position"] = "position"
    on: Id  # the check or claim
    check_id: CheckId | None = None  # number of the check
    stance: Stance  # what it expects, or how it stands
    confidence: Five | None = None  # 1 guess to 5 sure
    reason: Prose  # why
