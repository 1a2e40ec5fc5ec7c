"""`cross-examination`: several analyses, two or three questions to each, and what became of them (AD-20 … AD-23).

Laws
1. Analysts work side by side; the examiner asks each of them two or three questions, each about words of the analysis.
2. An analyst sees the own analysis and the own questions; each answer defends with new evidence or concedes. No middle.
3. The examiner says of every question: defended, conceded or deflected. What was never answered is deflected.
4. No questions: nothing is assessed. One silent analyst: the others go on. No assessment: the raw exchange stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events import Challenge, Disposition, Event, Response
from ledger.events.envelope import Five
from ledger.events.ids import number_of, parse_reference
from roles.protocol import Loss, Pick, Protocol, QuestionKind, RoleDefinition, Step
from roles.replies import AnswerDraft, Cited, Falsifiers, Part, Passage, Sentence, Text, Word, titled
from rounds.protocols.citations import Quotable, cites, defended_anew, exactly_one, repeated
from rounds.protocols.sides import by_disposition, defended
from rounds.protocols.step_table import (
    LOST_VERDICT,
    Numbering,
    StepRow,
    StepTable,
    after,
    as_many,
    asks,
    asks_each,
    each,
    revised,
    says,
    side_by_side,
    statement,
)

ANALYSTS: Final = tuple(f"analyst_{n}" for n in range(1, 6))
_QUESTIONS: Final = (2, 3)


class AnalysisReply(Part, frozen=True, kw_only=True):
    """An analysis."""

    analysis: Passage


class QuestionDraft(Part, frozen=True, kw_only=True):
    """A question about words of an analysis: the gap, contradiction or assumption in them."""

    about: Cited
    gap: Sentence
    question: Sentence


class QuestionsReply(Part, frozen=True, kw_only=True):
    """Two or three questions to each analyst."""

    questions: Annotated[tuple[QuestionDraft, ...], Meta(min_length=2, max_length=15)]


class AnswersReply(Part, frozen=True, kw_only=True):
    """One answer to each question, and the analysis as it stands then."""

    answers: Annotated[tuple[AnswerDraft, ...], Meta(min_length=1, max_length=3)]
    analysis: Passage


class AssessedDraft(Part, frozen=True, kw_only=True):
    """What became of one question."""

    of: Word
    disposition: Literal["defended", "conceded", "deflected"]
    reason: Sentence


@titled("AssessmentReply")
class ExaminationReply(Part, frozen=True, kw_only=True):
    """Every question classified, what follows, and what would show that wrong."""

    assessments: Annotated[tuple[AssessedDraft, ...], Meta(min_length=1, max_length=15)]
    decision: Text
    confidence: Five
    falsifiers: Falsifiers


def _wrong_questions(known: Quotable, reply: QuestionsReply) -> Iterator[str]:
    yield from repeated((draft.question for draft in reply.questions), "questions")
    counts = Counter[str]()
    for n, draft in enumerate(reply.questions):
        # Without a quote a question could be about anything, and its answer could not be
        # held against it (AD-20).
        if draft.about.quote is None:
            yield f"questions[{n}].about: the exact words that it is about are wanted"
        counts[parse_reference(draft.about.ref).id] += 1
    least, most = _QUESTIONS
    for identity in known.by_id:
        # Counted per analysis and not per analyst: the examiner sees texts, and steps repeat their author.
        if not least <= counts[identity] <= most:
            yield f"questions: {identity} gets {counts[identity]}; each analysis gets {least} or {most}"


def _questions(numbering: Numbering, step: Step, reply: QuestionsReply) -> Iterator[Event]:
    for draft in reply.questions:
        yield numbering.event(
            Challenge,
            step,
            target=draft.about.ref,
            type="question",
            claim=draft.gap,
            text=draft.question,
            follow_up_question=draft.question,
            evidence=(draft.about,),
        )


def _wrong_assessment(known: Quotable, reply: ExaminationReply) -> Iterator[str]:
    yield from exactly_one(
        (draft.of for draft in reply.assessments), known.ids_of(Challenge), "assessments", "challenge"
    )
    answered = {event.to: event.outcome for event in known.by_id.values() if isinstance(event, Response)}
    for n, draft in enumerate(reply.assessments):
        outcome = answered.get(draft.of)
        # Silence is no defense: a question that was never answered counts as deflected (AD-21).
        if outcome is None and draft.disposition != "deflected":
            yield f"assessments[{n}]: {draft.of} was never answered, which is deflected"
        # Whether something was conceded is the analyst's own word; an examiner may not overrule it.
        if (outcome == "concede") != (draft.disposition == "conceded"):
            yield f"assessments[{n}]: conceded is what the analyst conceded, and only that"


def _assessment(numbering: Numbering, step: Step, reply: ExaminationReply) -> Iterator[Event]:
    yield from each("assessments", Disposition, "of")(numbering, step, reply)
    ordered = sorted(reply.assessments, key=lambda draft: number_of(draft.of))
    relations = [
        (draft.of, "supported-by" if draft.disposition == "defended" else "builds-on") for draft in ordered
    ]
    yield numbering.decision(step, reply, cites("challenge", relations))


_ANALYSES: Final = Pick("analysis", kinds=("statement",))
_ASKED: Final = Pick("questions", kinds=("challenge",))

STEPS: Final = StepTable(
    (
        StepRow(
            "analysis",
            asks(*ANALYSTS),
            AnalysisReply,
            says("analysis", "analysis"),
            loss=Loss("skipped", "only analyses that were made are examined; without any, nothing is"),
        ),
        StepRow(
            "questions",
            asks("examiner"),
            QuestionsReply,
            lambda _, step, reply: statement(
                step, "review", {"questions": "\n\n".join(draft.question for draft in reply.questions)}
            ),
            _questions,
            _wrong_questions,
            Loss("skipped", "nobody was questioned, so nothing is assessed"),
            sees=(_ANALYSES,),
            when=after("analysis"),
        ),
        StepRow(
            "answering",
            # The examiner has asked each analyst who handed in an analysis, and no other.
            asks_each(
                lambda state, n: [role for role in state.roles if f"r{n}.analysis.{role}" in state.answered]
            ),
            AnswersReply,
            says("supplement", "analysis"),
            each("answers", Response, "to", revised=revised("analysis", "concede")),
            defended_anew,
            Loss("skipped", "the questions to this analyst stay without an answer"),
            sees=(Pick("analysis", kinds=("statement",), whose="own"), Pick("questions", whose="aimed")),
            when=after("questions"),
        ),
        StepRow(
            "assessment",
            asks("examiner"),
            ExaminationReply,
            says("assessment", "decision"),
            _assessment,
            _wrong_assessment,
            LOST_VERDICT,
            sees=(_ANALYSES, _ASKED, Pick("answering", kinds=("response",))),
            when=after("questions"),
            stand_in=side_by_side,
        ),
    )
)


CROSS_EXAMINATION: Final[Protocol] = STEPS.protocol(
    "cross-examination",
    "independent analyses, two or three questions to each, answered by defending or conceding",
    (
        *(
            RoleDefinition(role, "What is the case, and how do you know?", "charters/analyst", f"Analyst {n}")
            for n, role in enumerate(ANALYSTS, 1)
        ),
        RoleDefinition("examiner", "Does it hold when it is asked about?", "charters/examiner", "Examiner"),
    ),
    variants={"analysts": ("3", "2", "4", "5")},
    cast=as_many(ANALYSTS, "analysts", "examiner"),
    questions=(QuestionKind("fact", "a question of fact to check in sources"),),
    fits="a question of fact on which several analyses can be had",
    calls="3 analysts: 8",
    sides=by_disposition({"defended": "analysts", "conceded": "examiner", "deflected": "examiner"}),
    disputed=defended,
    rivals=("analysts", "examiner"),
)
