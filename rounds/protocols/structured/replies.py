"""What a seat returns in `structured` from version 2 on: evidence claim by claim, refs in fields, dissent in words.

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
