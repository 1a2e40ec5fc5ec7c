"""Replies of `crux`: numbers in, prose out, with upper limits and no lower ones."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from roles.memo.checks import WORDS_OF_SENTENCE
from roles.replies import Cited, Part, Quote, RefText, Sentence, Word
from rounds.protocols.citations import OptionPoints
from rounds.protocols.programs import PlannedProgram

Probability = Annotated[int, Meta(ge=1, le=99, description="percent that the claim is true")]
How = Literal["execution", "calculation", "document", "person"]
KEPT_MAX = 3
WORDS_MAX = 25
"""Words of an own answer, and of each reason."""
OBJECTION_WORDS_MAX = 50
CRUXES_MAX = 8
"""Two of each of four roles."""


class PointsOn(OptionPoints, frozen=True, kw_only=True):
    """Points of a forecast on one option."""

    option: Annotated[
        str,
        Meta(min_length=1, max_length=12, description="O-n or none; own or none where there are no options"),
    ]


Forecast = Annotated[
    tuple[PointsOn, ...], Meta(max_length=9, description="options with points; they sum to 100")
]


class WordRead(Part, frozen=True, kw_only=True):
    """A word of the question and the ways in which it can be read."""

    word: Word
    readings: Annotated[tuple[Sentence, ...], Meta(max_length=3, description="two or three readings")]


class FrameReply(Part, frozen=True, kw_only=True):
    """A: whether the question can be answered as it stands."""

    ill_posed: bool
    why: Sentence | None
    missing: Annotated[tuple[Sentence, ...], Meta(max_length=3, description="options that are not named")]
    double: Annotated[
        tuple[tuple[Word, ...], ...], Meta(max_length=3, description="groups of options that are the same")
    ]
    two_readings: Annotated[tuple[WordRead, ...], Meta(max_length=5)]


class CruxDraft(Part, frozen=True, kw_only=True):
    """B: a claim that could change the answer, its test, its probability, and the forecast either way."""

    text: Sentence
    test: Sentence
    how: How
    probability: Probability
    if_true: Forecast
    if_false: Forecast


class SealedAnswer(Part, frozen=True, kw_only=True):
    """B: an answer with its forecast, reasons, ways to be wrong, and cruxes."""

    answer: Annotated[str, Meta(max_length=240, description=f"{WORDS_MAX} words at most")] | None
    forecast: Forecast
    reasons: Annotated[
        tuple[Sentence, ...], Meta(max_length=3, description=f"{WORDS_MAX} words each at most")
    ]
    could_be_wrong: Annotated[tuple[Sentence, ...], Meta(max_length=3)]
    cruxes: Annotated[tuple[CruxDraft, ...], Meta(max_length=2)]


class MergedCrux(Part, frozen=True, kw_only=True):
    """C: a claim worth testing, in words that an outsider understands, with the proposals that it merges."""

    text: Sentence
    test: Sentence
    how: How
    of: Annotated[tuple[Word, ...], Meta(max_length=8, description="proposals that say it: a#crux-1")]
    negated: Annotated[tuple[Word, ...], Meta(max_length=8, description="proposals that say the opposite")]


class MergedWay(Part, frozen=True, kw_only=True):
    """C: a way in which an answer could be wrong, with every answer that names it."""

    text: Sentence
    of: Annotated[tuple[Word, ...], Meta(max_length=12, description="b#defeater-2")]


class LeftOut(Part, frozen=True, kw_only=True):
    """C: a proposal or a way to be wrong that is left out, and why."""

    of: Word
    why: Sentence


class AgendaReply(Part, frozen=True, kw_only=True):
    """C: one agenda made of the answers. Every crux and every way to be wrong has exactly one place."""

    options: Annotated[tuple[Sentence, ...], Meta(max_length=6, description="only where none were given")]
    shared: Annotated[tuple[Sentence, ...], Meta(max_length=5)]
    cruxes: Annotated[tuple[MergedCrux, ...], Meta(max_length=CRUXES_MAX)]
    could_be_wrong: Annotated[tuple[MergedWay, ...], Meta(max_length=12)]
    left_out: Annotated[tuple[LeftOut, ...], Meta(max_length=20)]


class CruxNumbers(Part, frozen=True, kw_only=True):
    """E: probability of a claim, and the forecast if it is true and if it is false."""

    claim: Word
    probability: Probability
    if_true: Forecast
    if_false: Forecast


class NumbersReply(Part, frozen=True, kw_only=True):
    """E: numbers about each crux."""

    numbers: Annotated[tuple[CruxNumbers, ...], Meta(max_length=KEPT_MAX)]


class ForecastReply(Part, frozen=True, kw_only=True):
    """E, where the options were made of the answers: the forecast over them, and numbers about each crux."""

    forecast: Forecast
    numbers: Annotated[tuple[CruxNumbers, ...], Meta(max_length=KEPT_MAX)]


class ProgramReply(Part, frozen=True, kw_only=True):
    """D: a program that tests one crux, and what it measures."""

    measures: Sentence
    program: PlannedProgram


class CalculationReply(Part, frozen=True, kw_only=True):
    """D: an expression that tests one crux; null where the numbers that it needs are not there."""

    why: Sentence
    expression: Annotated[str, Meta(min_length=1, max_length=300, description="40 * 25 + 3")] | None
    comparison: Literal["above", "at_least", "equal", "at_most", "below"]
    value: Annotated[str, Meta(min_length=1, max_length=40, description="a number; the crux holds if so")]


class DocumentVerdict(Part, frozen=True, kw_only=True):
    """D: what the documents say of one crux, with the lines that say it."""

    claim: Word
    verdict: Literal["holds", "fails", "not_settled"]
    quotes: Annotated[tuple[Cited, ...], Meta(max_length=4, description="exact quotes with their lines")]
    notes: Sentence


class ReadingReply(Part, frozen=True, kw_only=True):
    """D: a verdict on each crux that a document can settle."""

    verdicts: Annotated[tuple[DocumentVerdict, ...], Meta(max_length=KEPT_MAX)]


class SentenceDraft(Part, frozen=True, kw_only=True):
    """S: one sentence of the memo. It cites what it rests on, or is marked as a judgment."""

    field: Literal["answer", "do_now", "why", "changes_our_mind", "requirements", "not_settled", "assumed"]
    text: Annotated[
        str, Meta(min_length=1, max_length=400, description=f"{WORDS_OF_SENTENCE} words at most, no ids")
    ]
    refs: Annotated[tuple[RefText, ...], Meta(max_length=6)]
    quote: Quote | None
    judgment: bool


class MemoReply(Part, frozen=True, kw_only=True):
    """S: the answer for people, in 350 words at most."""

    answers: Annotated[Word, Meta(description="the option that the memo answers with: O-n, or none")]
    why_not_leader: Annotated[Sentence | None, Meta(description="null if it answers with the leader")]
    sentences: Annotated[tuple[SentenceDraft, ...], Meta(max_length=40)]


class ObjectionReply(Part, frozen=True, kw_only=True):
    """S: the strongest objection, in 50 words at most, and whether its author would decide otherwise."""

    text: Sentence
    dissents: bool


class SentenceJudged(Part, frozen=True, kw_only=True):
    """S: whether what a sentence cites says what the sentence says."""

    n: Annotated[int, Meta(ge=1, le=40)]
    verdict: Literal["supported", "partly", "not"]
    reason: Sentence


class GoalKept(Part, frozen=True, kw_only=True):
    """S: whether the answer serves a goal."""

    goal: Word
    served: Literal["yes", "partly", "no"]


class SentencesReply(Part, frozen=True, kw_only=True):
    """S: every sentence of the memo judged by its cited text alone, and every goal."""

    sentences: Annotated[tuple[SentenceJudged, ...], Meta(max_length=40)]
    goals: Annotated[tuple[GoalKept, ...], Meta(max_length=20)]
    notes: Sentence | None
