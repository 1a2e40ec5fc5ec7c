"""What a seat returns in `structured` from version 2 on: evidence claim by claim, refs in fields, dissent in words.

From version 3 on it marks questions that decide, says what can meet a requirement, and ticks the checklist.

What is not here is as in `roles/replies.py`, which holds the shapes of version 1.
"""

from typing import Annotated, Literal

from msgspec import Meta

from ledger.events.values import Bearing, Five, HowTested
from roles.replies import (
    ActionArtifact,
    CheckReply,
    Cited,
    CiteDraft,
    ClaimDraft,
    ConcernDraft,
    CriticArtifact,
    GuardianArtifact,
    NamedSection,
    ObserverArtifact,
    Part,
    RefText,
    Resolution,
    ResolveReply,
    RetrospectiveReply,
    ReviewReply,
    Sentence,
    Text,
    Word,
)

ClaimDrafts = Annotated[tuple["PlacedClaim", ...], Meta(max_length=4)]
OwnEvidence = Annotated[
    tuple[Cited, ...], Meta(max_length=4, description="what decides this claim; at least one if it moves")
]
Objection = Annotated[
    str, Meta(min_length=1, max_length=500, description="what you hold against it, in your own words")
]


class PlacedClaim(ClaimDraft, frozen=True, kw_only=True):
    """A claim in words that an outsider understands; what it is about stands in `places`."""

    how: Annotated[HowTested, Meta(description="what could decide it")]
    places: Annotated[
        tuple[RefText, ...], Meta(max_length=6, description="the places that the claim is about")
    ]


class PlacedActionArtifact(ActionArtifact, frozen=True, kw_only=True):
    """D, action."""

    proposed_claims: ClaimDrafts


class PlacedGuardianArtifact(GuardianArtifact, frozen=True, kw_only=True):
    """D, guardian."""

    proposed_claims: ClaimDrafts


class PlacedObserverArtifact(ObserverArtifact, frozen=True, kw_only=True):
    """D, observer."""

    proposed_claims: ClaimDrafts


class PlacedCriticArtifact(CriticArtifact, frozen=True, kw_only=True):
    """D, critic: at least one claim (SD-14)."""

    proposed_claims: Annotated[tuple[PlacedClaim, ...], Meta(min_length=1, max_length=4)]


class EvidencedTest(Part, frozen=True, kw_only=True):
    """What a verdict means for a claim, and by what; `bearing` null: it was looked at, and nothing follows."""

    claim_id: Word
    bearing: Bearing | None
    evidence: OwnEvidence


class EvidencedCheck(CheckReply, frozen=True, kw_only=True):
    """E.check1 … check4: a verdict, and for each claim that it moves the evidence for that."""

    evidence: Annotated[tuple[Cited, ...], Meta(min_length=1, max_length=6)]
    claims: Annotated[tuple[EvidencedTest, ...], Meta(max_length=30)]  # type: ignore[assignment]  # its own shape


class EvidencedResolution(Resolution, frozen=True, kw_only=True):
    """The last word on one pending claim."""

    evidence: Annotated[tuple[Cited, ...], Meta(min_length=1, max_length=4)]


class EvidencedResolve(ResolveReply, frozen=True, kw_only=True):
    """S.resolve: exactly one resolution for every pending claim."""

    resolutions: Annotated[tuple[EvidencedResolution, ...], Meta(min_length=1, max_length=200)]


class OutspokenReview(ReviewReply, frozen=True, kw_only=True):
    """F: what the round showed, and what the role holds against where it is heading."""

    claims: Annotated[tuple[PlacedClaim, ...], Meta(max_length=2)]
    against: Objection | None


class OutspokenRetrospective(RetrospectiveReply, frozen=True, kw_only=True):
    """S.review: the run looked back at, and what the role holds against the answer it is heading for."""

    against: Objection | None


class Met(Part, frozen=True, kw_only=True):
    """An objection that the decisions take up, so that it is none against them."""

    objection: Word
    how: Annotated[str, Meta(min_length=1, max_length=400, description="what in the decisions meets it")]


class RequirementDraft(Part, frozen=True, kw_only=True):
    """What has to be met before a decision is followed, and what can meet it."""

    text: Sentence
    by: Literal["run", "person", "world"]


class FalsifiableDecision(Part, frozen=True, kw_only=True):
    """Something to be decided, what would show it wrong, what it asks for, and who is against it."""

    text: Text
    cites: Annotated[tuple[CiteDraft, ...], Meta(min_length=1, max_length=16)]
    made_by: Literal["consensus", "round_lead", "adversary_concession"]
    round_artifact_refs: Annotated[tuple[RefText, ...], Meta(max_length=8)]
    anchor_ref: Annotated[str, Meta(description="the goal it serves, G-n")] | None
    about: Annotated[tuple[Word, ...], Meta(max_length=8, description="options it is about, O-n")]
    confidence: Five | None
    falsifiers: Annotated[
        tuple[Sentence, ...], Meta(max_length=4, description="what would show it to be wrong")
    ]
    requirements: Annotated[
        tuple[Sentence, ...], Meta(max_length=4, description="what has to be met for it to hold")
    ]
    dissent: Annotated[
        tuple[Word, ...], Meta(max_length=6, description="objections that stand against this decision")
    ]


class WeighedAssessment(Part, frozen=True, kw_only=True):
    """G: what converged, what did not, one to three decisions, and what became of every objection."""

    sections: Annotated[tuple[NamedSection, ...], Meta(min_length=1, max_length=12)]
    decisions: Annotated[tuple[FalsifiableDecision, ...], Meta(min_length=1, max_length=3)]
    met: Annotated[tuple[Met, ...], Meta(max_length=6)]
    concerns: Annotated[tuple[ConcernDraft, ...], Meta(max_length=6)]


class WeighedClosing(Part, frozen=True, kw_only=True):
    """S.close: the summary, the final decisions, and what became of every objection."""

    sections: Annotated[tuple[NamedSection, ...], Meta(min_length=1, max_length=12)]
    decisions: Annotated[tuple[FalsifiableDecision, ...], Meta(min_length=1, max_length=5)]
    met: Annotated[tuple[Met, ...], Meta(max_length=6)]


class BoundDecision(FalsifiableDecision, frozen=True, kw_only=True):
    """A decision that says of each requirement what can meet it."""

    requirements: Annotated[  # type: ignore[assignment]  # its own shape
        tuple[RequirementDraft, ...], Meta(max_length=4, description="what has to be met for it to hold")
    ]


class DecidingConcern(ConcernDraft, frozen=True, kw_only=True):
    """Something left open; a question whose answer would change what is decided names the option."""

    deciding: (
        Annotated[str, Meta(max_length=12, description="the option that the answer would change")] | None
    )


class BoundAssessment(WeighedAssessment, frozen=True, kw_only=True):
    """G: what converged, what did not, the decisions, and which open questions decide."""

    decisions: Annotated[tuple[BoundDecision, ...], Meta(min_length=1, max_length=3)]
    concerns: Annotated[tuple[DecidingConcern, ...], Meta(max_length=6)]


class BoundClosing(WeighedClosing, frozen=True, kw_only=True):
    """S.close: the summary, the final decisions, and what each of them requires of whom."""

    decisions: Annotated[tuple[BoundDecision, ...], Meta(min_length=1, max_length=5)]


class ModeTick(Part, frozen=True, kw_only=True):
    """One line of the retrospective's checklist."""

    mode: Literal["FM-1", "FM-2", "FM-3", "FM-4", "FM-5", "FM-6", "FM-7", "FM-8"]
    seen: Literal["yes", "no", "unsure"]


class TickedRetrospective(OutspokenRetrospective, frozen=True, kw_only=True):
    """S.review: the run looked back at, and which failure modes the role saw."""

    failure_modes: Annotated[tuple[ModeTick, ...], Meta(min_length=8, max_length=8)]  # type: ignore[assignment]  # its own shape
