"""What the seats of `comparative` hand in: weights, cases, rebuttals, a scorecard (AD-12 … AD-16)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events.values import Five
from roles.replies import Cited, Part, Sentence, Text, Word

RISKS: Final = 3
"""So many risks of the other option has a case, and so many targets a rebuttal."""


class WeightRow(Part, frozen=True, kw_only=True):
    """How much a criterion counts here."""

    criterion: Word
    weight: Literal["High", "Medium", "Low"]
    reason: Sentence


class WeightsReply(Part, frozen=True, kw_only=True):
    """A weight for every criterion, before anything is argued."""

    weights: Annotated[tuple[WeightRow, ...], Meta(min_length=1, max_length=12)]


class CriterionCase(Part, frozen=True, kw_only=True):
    """One criterion argued for one's own option and against the other."""

    criterion: Word
    claim: Annotated[str, Meta(min_length=10, max_length=600)]
    reasoning: Annotated[str, Meta(min_length=20, max_length=2_000)]
    evidence: Annotated[str, Meta(min_length=5, max_length=2_000)]


class CaseReply(Part, frozen=True, kw_only=True):
    """The case for one option against another (AD-14)."""

    criteria: Annotated[tuple[CriterionCase, ...], Meta(min_length=1, max_length=12)]
    risks: Annotated[tuple[Text, ...], Meta(min_length=RISKS, max_length=RISKS)]
    stakeholders: Text
    closing: Text


class RebuttalDraft(Part, frozen=True, kw_only=True):
    """One weak claim of the other case, with its words (AD-15)."""

    target: Word
    quote: Sentence
    why: Text
    evidence: Annotated[tuple[Cited, ...], Meta(max_length=6)]


class RebuttalReply(Part, frozen=True, kw_only=True):
    """Exactly three rebuttals, and what is conceded."""

    rebuttals: Annotated[tuple[RebuttalDraft, ...], Meta(min_length=RISKS, max_length=RISKS)]
    conceded: Text | None


class OptionScore(Part, frozen=True, kw_only=True):
    """One criterion of one option."""

    option: Word
    criterion: Word
    score: Five
    reason: Sentence


class RebuttalJudged(Part, frozen=True, kw_only=True):
    """How a rebuttal worked: 1 beside the point, 5 devastating; and whether its target survives (AD-16)."""

    of: Word
    effectiveness: Five
    target: Literal["SURVIVE", "COLLAPSE"]
    reason: Sentence


class ScorecardReply(Part, frozen=True, kw_only=True):
    """Scores, judged rebuttals, conditions and open questions."""

    scores: Annotated[tuple[OptionScore, ...], Meta(min_length=2, max_length=24)]
    rebuttals: Annotated[tuple[RebuttalJudged, ...], Meta(max_length=6)]
    recommended: Word
    decision: Text
    conditions: Annotated[tuple[Sentence, ...], Meta(min_length=2, max_length=6)]
    questions: Annotated[tuple[Sentence, ...], Meta(min_length=2, max_length=4)]
    confidence: Five
