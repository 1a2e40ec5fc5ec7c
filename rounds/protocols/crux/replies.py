"""What the seats of `crux` hand in: ceilings and no floors, numbers in, prose out."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ledger.events.values import Bearing
from roles.replies import Cited, Part, Quote, RefText, Sentence, Word

PERCENT = Annotated[int, Meta(ge=0, le=100)]
PLANS_MAX = 5


class PointsOn(Part, frozen=True, kw_only=True):
    """Points of a belief on one option."""

    option: Annotated[
        str,
        Meta(min_length=1, max_length=12, description="O-n or none; own or none where there are no options"),
    ]
    points: PERCENT


Belief = Annotated[
    tuple[PointsOn, ...], Meta(max_length=9, description="options with points; they sum to 100")
]


class WordRead(Part, frozen=True, kw_only=True):
    """A word of the question and the ways in which it can be read."""

    word: Word
    readings: Annotated[tuple[Sentence, ...], Meta(max_length=3, description="two or three readings")]


class FrameReply(Part, frozen=True, kw_only=True):
    """A: whether the question can be answered as it stands, and what could be run here."""

    ill_posed: bool
    why: Sentence | None
    missing: Annotated[tuple[Sentence, ...], Meta(max_length=3, description="options nobody named")]
    double: Annotated[
        tuple[tuple[Word, ...], ...], Meta(max_length=3, description="options that are the same, O-n")
    ]
    two_readings: Annotated[tuple[WordRead, ...], Meta(max_length=5)]
    runnable: Annotated[
        tuple[Sentence, ...], Meta(max_length=5, description="what a program could settle here")
    ]


class CruxDraft(Part, frozen=True, kw_only=True):
    """A claim that could change the answer: how sure you are of it, what follows either way, and its test."""

    text: Sentence
    test: Sentence
    how: Literal["execution", "calculation", "document", "person"]
    q: Annotated[int, Meta(ge=1, le=99, description="points that it is true")]
    if_true: Belief
    if_false: Belief


class SealedAnswer(Part, frozen=True, kw_only=True):
    """B: a belief, the reasons for it, what would defeat it, and what is worth testing."""

    answer: Annotated[str, Meta(max_length=240, description="in 25 words at most")] | None
    belief: Belief
    reasons: Annotated[tuple[Sentence, ...], Meta(max_length=3, description="25 words each at most")]
    defeaters: Annotated[tuple[Sentence, ...], Meta(max_length=5)]
    cruxes: Annotated[tuple[CruxDraft, ...], Meta(max_length=3)]
    share_found: PERCENT


class MergedCrux(Part, frozen=True, kw_only=True):
    """A claim worth testing, in words that an outsider understands. `of`, `negated`: the proposals that it merges."""

    text: Sentence
    test: Sentence
    how: Literal["execution", "calculation", "document", "person"]
    of: Annotated[tuple[Word, ...], Meta(max_length=12, description="proposals that say it: a#crux-1")]
    negated: Annotated[tuple[Word, ...], Meta(max_length=12, description="proposals that say the opposite")]


class MergedDefeater(Part, frozen=True, kw_only=True):
    """What would defeat an answer, once, with every answer that named it."""

    text: Sentence
    of: Annotated[tuple[Word, ...], Meta(max_length=20, description="b#defeater-2")]


class LeftOut(Part, frozen=True, kw_only=True):
    """A proposal or defeater that is left out, and why."""

    of: Word
    why: Sentence


class AgendaReply(Part, frozen=True, kw_only=True):
    """C: what the answers come to. Every proposal and every defeater is merged or left out exactly once."""

    options: Annotated[tuple[Sentence, ...], Meta(max_length=6, description="only where none were given")]
    shared: Annotated[tuple[Sentence, ...], Meta(max_length=5)]
    cruxes: Annotated[tuple[MergedCrux, ...], Meta(max_length=5)]
    defeaters: Annotated[tuple[MergedDefeater, ...], Meta(max_length=20)]
    left_out: Annotated[tuple[LeftOut, ...], Meta(max_length=32)]


class CruxNumbers(Part, frozen=True, kw_only=True):
    """What you believe of one crux, and about the question if it is true and if it is false."""

    claim: Word
    q: Annotated[int, Meta(ge=1, le=99)]
    if_true: Belief
    if_false: Belief


class ChoiceReply(Part, frozen=True, kw_only=True):
    """C: a belief over the options that were made of the answers, and numbers for each crux."""

    belief: Belief
    given: Annotated[tuple[CruxNumbers, ...], Meta(max_length=PLANS_MAX)]


class TestPlan(Part, frozen=True, kw_only=True):
    """How one crux would be tested."""

    claim: Word
    form: Literal["trace", "property", "walk", "attack", "experiment"]
    steps: Annotated[tuple[Sentence, ...], Meta(max_length=12)]
    holds_if: Sentence
    fails_if: Sentence


class PlansReply(Part, frozen=True, kw_only=True):
    """D: one plan for each crux, as small as the crux allows."""

    plans: Annotated[tuple[TestPlan, ...], Meta(max_length=PLANS_MAX)]


class Forecast(CruxNumbers, frozen=True, kw_only=True):
    """The same with the result that you expect, and whether the plan tests it fairly."""

    predicts: Literal["holds", "fails"]
    fair: bool
    fair_why: Sentence


class ForecastReply(Part, frozen=True, kw_only=True):
    """E: numbers for each crux of the round, sealed before any result."""

    given: Annotated[tuple[Forecast, ...], Meta(max_length=PLANS_MAX)]


class CruxVerdict(Part, frozen=True, kw_only=True):
    """What the evidence shows of one crux."""

    claim: Word
    bearing: Bearing
    evidence: Annotated[tuple[Cited, ...], Meta(max_length=6)]
    notes: Sentence


class CruxCheckReply(Part, frozen=True, kw_only=True):
    """E: a verdict for each crux that nobody could run."""

    verdicts: Annotated[tuple[CruxVerdict, ...], Meta(max_length=PLANS_MAX)]


class UpdateReply(Part, frozen=True, kw_only=True):
    """F: your belief after the results, and what moved it."""

    belief: Belief
    because: Annotated[tuple[Cited, ...], Meta(max_length=6)]
    moved_by: Sentence


class SentenceDraft(Part, frozen=True, kw_only=True):
    """One sentence of the memo. It cites what it rests on, or is marked as a judgment."""

    field: Literal["answer", "do_now", "why", "changes_our_mind", "requirements", "not_settled", "assumed"]
    text: Annotated[str, Meta(min_length=1, max_length=400, description="30 words at most, no ids")]
    refs: Annotated[tuple[RefText, ...], Meta(max_length=6)]
    quote: Quote | None
    judgment: bool


class MemoReply(Part, frozen=True, kw_only=True):
    """S: the answer for people, in 350 words at most."""

    sentences: Annotated[tuple[SentenceDraft, ...], Meta(max_length=40)]


class ObjectionReply(Part, frozen=True, kw_only=True):
    """S: the strongest objection, in 50 words at most, and whether you dissent from the answer."""

    text: Sentence
    dissents: bool


class SentenceJudged(Part, frozen=True, kw_only=True):
    """Whether what a sentence cites says what the sentence says."""

    n: Annotated[int, Meta(ge=1, le=40)]
    verdict: Literal["supported", "partly", "not"]
    reason: Sentence


class GoalKept(Part, frozen=True, kw_only=True):
    """Whether the answer serves a goal."""

    goal: Word
    served: Literal["yes", "partly", "no"]


class SentencesReply(Part, frozen=True, kw_only=True):
    """S: every sentence of the memo judged by its cited text alone, and every goal."""

    sentences: Annotated[tuple[SentenceJudged, ...], Meta(max_length=40)]
    goals: Annotated[tuple[GoalKept, ...], Meta(max_length=20)]
    notes: Sentence
