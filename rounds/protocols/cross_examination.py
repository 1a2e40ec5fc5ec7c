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

from ledger.events import Challenge, Decision, Disposition, Event, Response
from ledger.events.decisions import Cite
from ledger.events.ids import StepName, event_id, number_of, parse_reference
from ledger.events.values import Five
from ledger.state.state import State
from roles.protocol import Pick, Protocol, RoleDefinition, Rules, Step
from roles.replies import Cited, Part, Passage, Sentence, Text, Word, titled
from rounds.protocols.hanging import Falsifiers, hangs_on
from rounds.protocols.quotable import Quotable, exactly_one, no_new_evidence, repeated
from rounds.protocols.step_table import (
    Numbering,
    Sheet,
    StepRow,
    asks,
    by,
    evidence_of,
    handed_in,
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


class AnswerDraft(Part, frozen=True, kw_only=True):
    """Defend or concede."""

    to: Word
    outcome: Literal["defend", "concede"]
    text: Text
    evidence: Annotated[tuple[Cited, ...], Meta(max_length=6)]


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
    asked = Counter[str]()
    for n, draft in enumerate(reply.questions):
        # Without a quote a question could be about anything, and its answer could not be
        # held against it (AD-20).
        if draft.about.quote is None:
            yield f"questions[{n}].about: the exact words that it is about are wanted"
        yield from known.reference_problems(draft.about.ref, f"questions[{n}].about", draft.about.quote)
        asked[parse_reference(draft.about.ref).id] += 1
    least, most = _QUESTIONS
    for identity in known.by_id:
        # Counted per analysis and not per analyst: the examiner sees texts, and steps repeat their author.
        if not least <= asked[identity] <= most:
            yield f"questions: {identity} gets {asked[identity]}; each analysis gets {least} or {most}"


def _questions(numbering: Numbering, step: Step, reply: QuestionsReply) -> Iterator[Event]:
    for draft in reply.questions:
        yield Challenge(
            **by(step),
            id=numbering.number("challenge"),
            target=draft.about.ref,
            type="question",
            claim=draft.gap,
            text=draft.question,
            follow_up_question=draft.question,
            evidence=evidence_of((draft.about,)),
        )


def _wrong_answers(known: Quotable, reply: AnswersReply) -> Iterator[str]:
    yield from exactly_one(
        (draft.to for draft in reply.answers), known.ids_of(Challenge), "answers", "challenge"
    )
    for n, draft in enumerate(reply.answers):
        yield from known.evidence_problems(draft.evidence, f"answers[{n}].evidence")
        if draft.outcome == "defend":
            yield from no_new_evidence(known, draft.to, draft.evidence, f"answers[{n}].evidence")


def _answers(numbering: Numbering, step: Step, reply: AnswersReply) -> Iterator[Event]:
    # A concession refers to the analysis as revised, so a reader finds what changed.
    revised = f"{event_id('statement', step.name.round, 'answering', step.role)}#analysis"
    for draft in sorted(reply.answers, key=lambda draft: number_of(draft.to)):
        yield Response(
            **by(step),
            id=numbering.number("response"),
            to=draft.to,
            outcome=draft.outcome,
            text=draft.text,
            evidence=evidence_of(draft.evidence),
            revised=revised if draft.outcome == "concede" else None,
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
    ordered = sorted(reply.assessments, key=lambda draft: number_of(draft.of))
    for draft in ordered:
        yield Disposition(**by(step), of=draft.of, disposition=draft.disposition, reason=draft.reason)
    yield Decision(
        **by(step),
        id=numbering.number("decision"),
        text=reply.decision,
        type="final",
        cites=tuple(
            Cite(
                type="challenge",
                id=draft.of,
                relation="supported-by" if draft.disposition == "defended" else "builds-on",
            )
            for draft in ordered
        ),
        made_by="judge",
        confidence=reply.confidence,
        **hangs_on(reply),
    )


def _asked_analysts(state: State, round_: int, phase: str) -> Iterator[StepName]:
    """Yield the analysts who handed in an analysis; the examiner has asked each of them."""
    for role in state.roles:
        if f"r{round_}.analysis.{role}" in state.answered:
            yield StepName(round_, phase, None, role)


def _has_analyses(state: State, round_: int) -> bool:
    return handed_in(state, round_, "analysis") > 0


def _has_questions(state: State, round_: int) -> bool:
    return handed_in(state, round_, "questions") > 0


_ANALYSES: Final = Pick("analysis", kinds=("statement",))
_ASKED: Final = Pick("questions", kinds=("challenge",))

SHEET: Final = Sheet(
    (
        StepRow(
            "analysis",
            asks(*ANALYSTS),
            AnalysisReply,
            lambda _, step, reply: statement(step, "analysis", {"analysis": reply.analysis}),
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
            sees=(_ANALYSES,),
            when=_has_analyses,
        ),
        StepRow(
            "answering",
            _asked_analysts,
            AnswersReply,
            lambda _, step, reply: statement(step, "supplement", {"analysis": reply.analysis}),
            _answers,
            _wrong_answers,
            sees=(Pick("analysis", kinds=("statement",), whose="own"), Pick("questions", whose="aimed")),
            when=_has_questions,
        ),
        StepRow(
            "assessment",
            asks("examiner"),
            ExaminationReply,
            lambda _, step, reply: statement(step, "assessment", {"decision": reply.decision}),
            _assessment,
            _wrong_assessment,
            sees=(_ANALYSES, _ASKED, Pick("answering", kinds=("response",))),
            when=_has_questions,
            stand_in=side_by_side,
        ),
    )
)


def _cast(rules: Rules) -> tuple[str, ...]:
    return (*ANALYSTS[: int(str(rules["analysts"]))], "examiner")


CROSS_EXAMINATION: Final[Protocol] = SHEET.protocol(
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
    cast=_cast,
    fits="a question of fact on which several analyses can be had",
    calls="3 analysts: 8",
)
