"""Replies of `structured` beyond the published ones: answers in points, and texts that come with programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta

from roles.replies import (
    ActionArtifact,
    CheckReply,
    Cited,
    CriticArtifact,
    GuardianArtifact,
    ObserverArtifact,
    Part,
    Reply,
    Word,
)
from rounds.protocols.citations import OptionPoints
from rounds.protocols.programs import PlannedProgram


class PointsOnAnswer(OptionPoints, frozen=True, kw_only=True):
    """Points on one answer."""

    option: Annotated[
        str,
        Meta(
            min_length=1, max_length=12, description="O-n or none; stands or none where there are no options"
        ),
    ]


class AnswerNow(Part, frozen=True, kw_only=True):
    """E.belief: the answer as it stands, in points."""

    belief: Annotated[
        tuple[PointsOnAnswer, ...], Meta(max_length=65, description="options with points; they sum to 100")
    ]
    because: Annotated[
        tuple[Cited, ...],
        Meta(max_length=3, description="what moved it since your last answer; often nothing"),
    ]


class ClaimProgram(PlannedProgram, frozen=True, kw_only=True):
    """A program for one claim: its id, or the number of one of the reply's own, from 1."""

    claim: Annotated[Word, Meta(description="the claim's id, or 1 for the first of proposed_claims")]


ClaimPrograms = Annotated[
    tuple[ClaimProgram, ...], Meta(max_length=2, description="programs that decide claims; often none")
]


class RunnableActionArtifact(ActionArtifact, frozen=True, kw_only=True):
    """D, action."""

    programs: ClaimPrograms


class RunnableGuardianArtifact(GuardianArtifact, frozen=True, kw_only=True):
    """D, guardian."""

    programs: ClaimPrograms


class RunnableObserverArtifact(ObserverArtifact, frozen=True, kw_only=True):
    """D, observer."""

    programs: ClaimPrograms


class RunnableCriticArtifact(CriticArtifact, frozen=True, kw_only=True):
    """D, critic."""

    programs: ClaimPrograms


class RunnableCheck(CheckReply, frozen=True, kw_only=True):
    """E.check1 … check4, with programs for what reading leaves open."""

    programs: ClaimPrograms


WITH_PROGRAMS: Final[Mapping[type[Reply], type[Reply]]] = {
    ActionArtifact: RunnableActionArtifact,
    GuardianArtifact: RunnableGuardianArtifact,
    ObserverArtifact: RunnableObserverArtifact,
    CriticArtifact: RunnableCriticArtifact,
    CheckReply: RunnableCheck,
}
"""Reply types and their variants with programs."""
