"""Comparison of options: replies, criteria, pairings with swapped lenses, weighted totals (AD-11 … AD-16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta

from ledger.events.ids import label_id
from ledger.events.values import Five
from roles.replies import Cited, Part, Sentence, Text, Word

CRITERIA: Final[Mapping[str, tuple[str, ...]]] = {
    "architecture": (
        "complexity",
        "performance",
        "maintainability",
        "team familiarity",
        "migration effort",
        "extensibility",
        "operational burden",
    ),
    "vendor": (
        "cost",
        "feature completeness",
        "integration quality",
        "vendor stability",
        "migration effort",
        "team preference",
        "support quality",
    ),
    "tool": (
        "developer experience",
        "feature completeness",
        "community",
        "cost",
        "integration effort",
        "learning curve",
    ),
    "strategy": ("alignment", "risk", "effort", "reversibility", "stakeholder buy-in", "time to value"),
}
"""Criteria by kind of comparison (AD-12)."""
WEIGHTS: Final[Mapping[str, int]] = {"High": 3, "Medium": 2, "Low": 1}
CLOSE_WITHIN: Final = Fraction(5, 100)
"""Share of the greater total within which two totals are close (AD-16)."""


class Pairing(NamedTuple):
    """A round's option for each advocate. `a` looks far ahead, `b` at the next months."""

    a: str
    b: str


def pairings(options: int) -> tuple[Pairing, ...]:
    """Return every pair of options twice, the second time with the lenses swapped (AD-13 confounds lens and option)."""
    pairs: list[Pairing] = []
    for first, second in combinations(range(1, options + 1), 2):
        a, b = label_id("option", first), label_id("option", second)
        pairs += [Pairing(a, b), Pairing(b, a)]
    return tuple(pairs)


def weighted(parts: Mapping[str, int], weights: Mapping[str, str]) -> Fraction:
    """Return the weighted mean of scores from 1 to 5; criterion → score, criterion → High, Medium or Low."""
    # Only the weights of criteria that were scored count, so a missing score does not lower the mean.
    whole = sum(WEIGHTS[weights[name]] for name in parts)
    return Fraction(sum(WEIGHTS[weights[name]] * value for name, value in parts.items()), whole)


def means(totals: Sequence[tuple[str, Fraction]]) -> dict[str, Fraction]:
    """Map each option to the mean of its totals over all rounds."""
    by_option: dict[str, list[Fraction]] = {}
    for option, total in totals:
        by_option.setdefault(option, []).append(total)
    # A mean and not a sum: with a lost round, options have different numbers of totals.
    return {option: sum(values, Fraction(0)) / len(values) for option, values in by_option.items()}


def is_close(first: Fraction, second: Fraction) -> bool:
    """Return whether two totals are within five percent of the greater."""
    return abs(first - second) <= CLOSE_WITHIN * max(first, second)


RISKS: Final = 3
"""Number of risks in a case, and of targets in a rebuttal."""


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
    """Scores, judged rebuttals, the option they recommend, what would show the other to be right, open questions."""

    scores: Annotated[tuple[OptionScore, ...], Meta(min_length=2, max_length=24)]
    rebuttals: Annotated[tuple[RebuttalJudged, ...], Meta(max_length=6)]
    recommended: Word
    decision: Text
    falsifiers: Annotated[tuple[Sentence, ...], Meta(min_length=2, max_length=6)]
    questions: Annotated[tuple[Sentence, ...], Meta(min_length=2, max_length=4)]
    confidence: Five
