"""Types of replies: closed JSON objects, one per kind of step.

The types limit counts, enums and lengths. Checks that need the ledger (an id exists, a quote occurs at its reference, a
claim may be superseded) are made by the protocol when a reply is accepted. Annotations must stay real objects, not
strings, as in `ledger/events`. Docstrings and descriptions of the types are part of the published schemas, whose hashes
recorded briefs hold, so they must not change.
"""

from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct

from ledger.events.artifacts import (
    AdversarialTestCase,
    BehavioralTraceSet,
    IdentityInvariantCheck,
    OperatorWalkthrough,
)
from ledger.events.envelope import Bearing, Five, HowTested

Shape = TypeVar("Shape", bound=Struct)

Word = Annotated[str, Meta(min_length=1, max_length=120, description="a short name or an id")]
Sentence = Annotated[str, Meta(min_length=1, max_length=600)]
Text = Annotated[str, Meta(min_length=1, max_length=2_000)]
Passage = Annotated[str, Meta(min_length=1, max_length=12_000)]
RefText = Annotated[
    str, Meta(min_length=1, max_length=200, description="<id>#<section>, <id>, or K-1#L10-L20")
]
Quote = Annotated[
    str, Meta(min_length=1, max_length=1_000, description="exact words that stand at the reference")
]


def titled(title: str) -> Callable[[type[Shape]], type[Shape]]:
    """Give a shape the title that its schema has in recorded runs, whose briefs hold the hash of its bytes."""

    def name(shape: type[Shape]) -> type[Shape]:
        shape.__name__ = title
        return shape

    return name


Objection = Annotated[
    str, Meta(min_length=1, max_length=500, description="what you hold against it, in your own words")
]


Falsifiers = Annotated[
    tuple[Sentence, ...],
    Meta(min_length=1, max_length=3, description="what would show the decision to be wrong"),
]
Requirements = Annotated[
    tuple[Sentence, ...], Meta(max_length=3, description="what has to be met before it is followed")
]


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of everything inside a reply: closed."""


class Cited(Part, frozen=True, kw_only=True):
    """Where something is said; the quote, when given, must stand there word for word."""

    ref: RefText
    quote: Quote | None


AboutOptions = Annotated[tuple[Word, ...], Meta(max_length=8, description="options it is about, O-n")]
Evidence = Annotated[tuple[Cited, ...], Meta(max_length=6)]
"""Places that something is taken from."""


class AnswerDraft(Part, frozen=True, kw_only=True):
    """Defend or concede."""

    to: Word
    outcome: Literal["defend", "concede"]
    text: Text
    evidence: Evidence


class NamedSection(Part, frozen=True, kw_only=True):
    """A named part of a text; the name is what others cite (`S-1-B-action#risks`)."""

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]{0,39}$(?!\n)", description="lower-case, hyphens")]
    text: Passage


class ClaimDraft(Part, frozen=True, kw_only=True):
    """A claim in words that an outsider understands; what it is about stands in `places`."""

    text: Annotated[str, Meta(min_length=1, max_length=800, description="the claim, 1 to 3 sentences")]
    testable_as: Annotated[str, Meta(min_length=1, max_length=800, description="one observable outcome")]
    section: Annotated[
        str, Meta(min_length=1, max_length=40, description="the section of this reply that it comes from")
    ]
    anchor_ref: Annotated[str, Meta(description="the goal it serves, G-n")] | None
    about: AboutOptions
    supersedes: Annotated[str, Meta(description="an earlier tested claim that this one replaces")] | None
    how: Annotated[HowTested, Meta(description="what could decide it")]
    places: Annotated[
        tuple[RefText, ...], Meta(max_length=6, description="the places that the claim is about")
    ]


class ListedFinding(Part, frozen=True, kw_only=True):
    """Something found; `section` is where in the artifact."""

    section: Annotated[str, Meta(min_length=1, max_length=40)]
    text: Sentence


class StatementReply(Part, frozen=True, kw_only=True):
    """B and C: a proposal or a supplement."""

    sections: Annotated[tuple[NamedSection, ...], Meta(min_length=1, max_length=12)]
    responds_to: Annotated[tuple[Word, ...], Meta(max_length=12, description="ids that this answers")]
    options: Annotated[tuple[Word, ...], Meta(max_length=8, description="options it speaks for, O-n")]


class _ArtifactReply(Part, frozen=True, kw_only=True):
    findings: Annotated[tuple[ListedFinding, ...], Meta(max_length=12)]
    proposed_claims: Annotated[tuple[ClaimDraft, ...], Meta(max_length=4)]
    cites: Annotated[
        tuple[RefText, ...], Meta(max_length=20, description="earlier decisions, claims, artifacts")
    ]
    self_assessment: Five | None
    minutes: Annotated[int, Meta(ge=0, le=600)] | None


class ActionArtifact(_ArtifactReply, frozen=True, kw_only=True):
    """D, action."""

    body: BehavioralTraceSet


class GuardianArtifact(_ArtifactReply, frozen=True, kw_only=True):
    """D, guardian."""

    body: IdentityInvariantCheck


class ObserverArtifact(_ArtifactReply, frozen=True, kw_only=True):
    """D, observer."""

    body: OperatorWalkthrough


class CriticArtifact(_ArtifactReply, frozen=True, kw_only=True):
    """D, critic: at least one claim (SD-14)."""

    proposed_claims: Annotated[tuple[ClaimDraft, ...], Meta(min_length=1, max_length=4)]
    body: AdversarialTestCase


ArtifactReply = ActionArtifact | GuardianArtifact | ObserverArtifact | CriticArtifact


class SealedPosition(Part, frozen=True, kw_only=True):
    """What the role expects of one check, before anybody knows the verdict."""

    check_id: Annotated[int, Meta(ge=1, le=4)]
    stance: Literal["BROKEN", "ROBUST", "UNCLEAR"]
    confidence: Five
    reason: Text


class PositionReply(Part, frozen=True, kw_only=True):
    """E.position: one position for every applicable check."""

    positions: Annotated[tuple[SealedPosition, ...], Meta(min_length=1, max_length=4)]


class ClaimTest(Part, frozen=True, kw_only=True):
    """What a verdict means for a claim, and by what; `bearing` null: it was looked at, and nothing follows."""

    claim_id: Word
    bearing: Bearing | None
    evidence: Annotated[
        tuple[Cited, ...], Meta(max_length=4, description="what decides this claim; at least one if it moves")
    ]


class CheckReply(Part, frozen=True, kw_only=True):
    """E.check1 … check4: a verdict, and for each claim that it moves the evidence for that."""

    result: Literal["BROKEN", "ROBUST", "UNCLEAR"]
    evidence: Annotated[tuple[Cited, ...], Meta(min_length=1, max_length=6)]
    notes: Annotated[str, Meta(min_length=1, max_length=1_500, description="1 to 3 sentences")]
    claims: Annotated[tuple[ClaimTest, ...], Meta(max_length=30)]
    about: AboutOptions
    confidence: Five


class FlipDraft(Part, frozen=True, kw_only=True):
    """Giving up one's own sealed position; `because` holds evidence not cited in that check before, or nothing."""

    check_id: Annotated[int, Meta(ge=1, le=4)]
    to: Literal["BROKEN", "ROBUST", "UNCLEAR"]
    because: Evidence


class Tension(Part, frozen=True, kw_only=True):
    """Two or more roles or claims that cannot both be right."""

    text: Text
    between: Annotated[tuple[Word, ...], Meta(min_length=2, max_length=6, description="roles or ids")]
    severity: Five
    evidence: Evidence


class ReviewReply(Part, frozen=True, kw_only=True):
    """F: what the round showed, flips of one's own positions, up to two cross-agent claims, tensions, an objection."""

    summary: Text
    flips: Annotated[tuple[FlipDraft, ...], Meta(max_length=4)]
    claims: Annotated[tuple[ClaimDraft, ...], Meta(max_length=2)]
    tensions: Annotated[tuple[Tension, ...], Meta(max_length=4)]
    against: Objection | None


class CiteDraft(Part, frozen=True, kw_only=True):
    """What a decision rests on."""

    id: Word
    relation: Literal["based-on", "supported-by", "builds-on", "overturns", "supersedes", "resolves"]


class RequirementDraft(Part, frozen=True, kw_only=True):
    """What has to be met before a decision is followed, and what can meet it."""

    text: Sentence
    by: Literal["run", "person", "world"]


class DecisionDraft(Part, frozen=True, kw_only=True):
    """Something to be decided, what would show it wrong, what it asks for of whom, and who is against it."""

    text: Text
    cites: Annotated[tuple[CiteDraft, ...], Meta(min_length=1, max_length=16)]
    made_by: Literal["consensus", "round_lead", "adversary_concession"]
    round_artifact_refs: Annotated[tuple[RefText, ...], Meta(max_length=8)]
    anchor_ref: Annotated[str, Meta(description="the goal it serves, G-n")] | None
    about: AboutOptions
    confidence: Five | None
    falsifiers: Annotated[
        tuple[Sentence, ...], Meta(max_length=4, description="what would show it to be wrong")
    ]
    requirements: Annotated[
        tuple[RequirementDraft, ...], Meta(max_length=4, description="what has to be met for it to hold")
    ]
    dissent: Annotated[
        tuple[Word, ...], Meta(max_length=6, description="objections that stand against this decision")
    ]


class Met(Part, frozen=True, kw_only=True):
    """An objection that the decisions take up, so that it is none against them."""

    objection: Word
    how: Annotated[str, Meta(min_length=1, max_length=400, description="what in the decisions meets it")]


class ConcernDraft(Part, frozen=True, kw_only=True):
    """Something left open; `for_human` asks a person, `deciding` names the option that the answer would change."""

    type: Literal["concern", "tension", "question"]
    text: Text
    severity: Five | None
    between: Annotated[tuple[Word, ...], Meta(max_length=6, description="for a tension: at least two")]
    evidence: Evidence
    for_human: bool
    deciding: (
        Annotated[str, Meta(max_length=12, description="the option that the answer would change")] | None
    )


class AssessmentReply(Part, frozen=True, kw_only=True):
    """G: what converged, what did not, one to three decisions, what became of every objection, what stays open."""

    sections: Annotated[tuple[NamedSection, ...], Meta(min_length=1, max_length=12)]
    decisions: Annotated[tuple[DecisionDraft, ...], Meta(min_length=1, max_length=3)]
    met: Annotated[tuple[Met, ...], Meta(max_length=6)]
    concerns: Annotated[tuple[ConcernDraft, ...], Meta(max_length=6)]


class GoalServed(Part, frozen=True, kw_only=True):
    """Whether the decisions serve one goal."""

    goal: Word
    served: Literal["yes", "partly", "no"]
    evidence: Evidence


class DriftReply(Part, frozen=True, kw_only=True):
    """H: do the decisions still serve the goals? 1 is no deviation, 5 is another question altogether."""

    verdict: Literal["PASS", "FAIL", "PARTIAL"]
    deviation_score: Five
    notes: Text
    anchors: Annotated[tuple[GoalServed, ...], Meta(min_length=1, max_length=20)]
    addresses: Annotated[str, Meta(description="an earlier failed drift check, H-n")] | None


class Resolution(Part, frozen=True, kw_only=True):
    """The last word on one pending claim."""

    claim_id: Word
    result: Literal["BROKEN", "ROBUST", "UNCLEAR"]
    bearing: Bearing
    evidence: Annotated[tuple[Cited, ...], Meta(min_length=1, max_length=4)]
    notes: Annotated[str, Meta(min_length=1, max_length=1_500, description="1 to 3 sentences")]
    confidence: Five


class ResolveReply(Part, frozen=True, kw_only=True):
    """S.resolve: exactly one resolution for every pending claim."""

    resolutions: Annotated[tuple[Resolution, ...], Meta(min_length=1, max_length=200)]


class FailureModeNote(Part, frozen=True, kw_only=True):
    """One line of the retrospective's checklist."""

    mode: Literal["FM-1", "FM-2", "FM-3", "FM-4", "FM-5", "FM-6", "FM-7", "FM-8"]
    seen: Literal["yes", "no", "unsure"]


class RetrospectiveReply(Part, frozen=True, kw_only=True):
    """S.review: the run looked back at, which failure modes the role saw, and what it holds against the answer."""

    summary: Text
    failure_modes: Annotated[tuple[FailureModeNote, ...], Meta(min_length=8, max_length=8)]
    against: Objection | None


class ClosingReply(Part, frozen=True, kw_only=True):
    """S.close: the summary, the final decisions, and what became of every objection."""

    sections: Annotated[tuple[NamedSection, ...], Meta(min_length=1, max_length=12)]
    decisions: Annotated[tuple[DecisionDraft, ...], Meta(min_length=1, max_length=5)]
    met: Annotated[tuple[Met, ...], Meta(max_length=6)]


Reply = Part
"""Any reply: every protocol asks for shapes of its own."""
