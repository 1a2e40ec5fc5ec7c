"""`debate`: two sides open, question each other, answer, close, and are judged (XS-1 … XS-15, XS-19).

Laws
1. opening, crossing, answering, closing: both sides side by side, neither sees the other's of the same step; then the
   judge, or a panel of judges of which every second one reads the sides in the other order.
2. A side opens with three to five arguments, each with claim, reasoning and evidence; there are no new ones later.
3. Each argument of the other side gets exactly one response, and each question is answered before the closing.
4. Judges score every argument in integers; totals are ours. A gap below 1 is even, above 3 significant (XS-14).
5. The decision rests on the arguments of the side with the higher total that stand; of a panel, by most judges.
6. One side lost: the other's openings are judged alone. A judge of several lost: the others decide. No judge: the cases
   stand side by side, and a person decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events import Argument, Challenge, Event, Response, Standing
from ledger.state.book import Book
from ledger.state.state import State
from roles.protocol import Loss, Pick, Protocol, RoleDefinition, Step
from roles.replies import Evidence, Part, Sentence, Text, Word, titled
from rounds.protocols.citations import Quotable, exactly_one, ids_problems, repeated
from rounds.protocols.debate_judging import (
    JUDGEMENTS,
    AnyJudgement,
    panel_decision,
    scores,
    wrong_judgement,
)
from rounds.protocols.step_table import (
    Numbering,
    StepRow,
    StepTable,
    after,
    asks,
    each,
    repeated_step,
    rule,
    says,
    side_by_side,
    statement,
)

SIDES: Final = ("pro", "con")


class ArgumentDraft(Part, frozen=True, kw_only=True):
    """One argument, whole (XS-2, XS-13)."""

    claim: Annotated[str, Meta(min_length=10, max_length=600)]
    reasoning: Annotated[str, Meta(min_length=20, max_length=2_000)]
    evidence: Annotated[str, Meta(min_length=5, max_length=2_000)]
    quotes: Evidence


class OpeningReply(Part, frozen=True, kw_only=True):
    """Three to five arguments for one side."""

    position: Text
    arguments: Annotated[tuple[ArgumentDraft, ...], Meta(min_length=3, max_length=5)]


class CrossDraft(Part, frozen=True, kw_only=True):
    """The response to one argument (XS-4): refute, challenge, concede or partly concede it."""

    target: Word
    type: Literal["refute", "challenge", "concede", "partial"]
    claim: Sentence
    text: Text
    follow_up_question: Sentence | None
    evidence: Evidence


@titled("CrossReply")
class SideQuestionsReply(Part, frozen=True, kw_only=True):
    """Exactly one response to each argument of the other side."""

    responses: Annotated[tuple[CrossDraft, ...], Meta(min_length=1, max_length=5)]


@titled("AnswerDraft")
class SideAnswer(Part, frozen=True, kw_only=True):
    """The answer to one question."""

    to: Word
    outcome: Literal["answer", "concede"]
    text: Text
    evidence: Evidence


@titled("AnswersReply")
class SideAnswersReply(Part, frozen=True, kw_only=True):
    """Exactly one answer to each question that was asked."""

    answers: Annotated[tuple[SideAnswer, ...], Meta(min_length=1, max_length=5)]


class Concession(Part, frozen=True, kw_only=True):
    """Something given up: one's own argument, or a point of the other side."""

    of: Word
    text: Sentence


@titled("ClosingReply")
class SideClosingReply(Part, frozen=True, kw_only=True):
    """What was conceded, what was not effectively rebutted, and the final position (XS-6)."""

    concessions: Annotated[tuple[Concession, ...], Meta(max_length=10)]
    unrebutted: Annotated[tuple[Word, ...], Meta(max_length=10, description="own arguments, R-1-n")]
    position: Text


def _arguments(numbering: Numbering, step: Step, reply: OpeningReply) -> Iterator[Event]:
    side = step.role.upper()
    for n, draft in enumerate(reply.arguments, 1):
        yield numbering.event(Argument, step, draft, label=f"{side}-{n}", side=side)


def _wrong_cross(known: Quotable, reply: SideQuestionsReply) -> Iterator[str]:
    theirs = known.ids_of(Argument, but_by=known.step.role)
    named = (draft.target for draft in reply.responses)
    yield from exactly_one(named, theirs, "responses", "argument of the other side")
    for n, draft in enumerate(reply.responses):
        # XS-5: a point that is conceded needs no answer, and a question about it would reopen it.
        if draft.type == "concede" and draft.follow_up_question:
            yield f"responses[{n}].follow_up_question: what is conceded is not asked about"
        if draft.type != "concede" and not draft.follow_up_question:
            yield f"responses[{n}].follow_up_question: one pointed question about this argument is wanted"


def _wrong_answers(known: Quotable, reply: SideAnswersReply) -> Iterator[str]:
    questions = [
        identity
        # Only questions are answered; a challenge without one has had its say.
        for identity in known.ids_of(Challenge, but_by=known.step.role)
        if getattr(known.by_id[identity], "follow_up_question", None)
    ]
    yield from exactly_one((draft.to for draft in reply.answers), questions, "answers", "question")


def _wrong_closing(known: Quotable, reply: SideClosingReply) -> Iterator[str]:
    yield from ids_problems(known, (concession.of for concession in reply.concessions), "concessions")
    yield from repeated(reply.unrebutted, "unrebutted")
    for n, identity in enumerate(reply.unrebutted):
        event = known.by_id.get(identity)
        # A side can call only its own arguments unrebutted; those of the other side are not its to defend.
        if not isinstance(event, Argument) or event.by != known.step.role:
            yield f"unrebutted[{n}]: {identity!r} is no argument of your side"


def _closing(_: Numbering, step: Step, reply: SideClosingReply) -> tuple[Event, ...]:
    parts = {
        "concessions": "\n\n".join(f"{given_up.of}: {given_up.text}" for given_up in reply.concessions),
        "unrebutted": ", ".join(reply.unrebutted),
        "position": reply.position,
    }
    return statement(step, "closing", parts)


def _judges(state: State) -> int:
    return int(rule(state, "judges"))


def _no_judge_left(book: Book, step: Step) -> tuple[Event, ...]:
    """Return the step for a person when the last judge is lost, and nothing while another has judged or still can."""
    # The step that is lost now is not on the ledger yet.
    lost = {step.id, *(name for name in book.state.given_up if ".judging." in name)}
    return () if len(lost) < _judges(book.state) else side_by_side(book, step)


_OPENINGS: Final = Pick("opening", kinds=("statement", "argument"))
_CROSSINGS: Final = Pick("crossing", kinds=("challenge",))
_ANSWERS: Final = Pick("answering", kinds=("response",))


def _judged(numbering: Numbering, step: Step, reply: AnyJudgement) -> tuple[Event, ...]:
    parts = {
        "insight": reply.key_insight,
        "recommendation": reply.recommendation,
        "confidence": str(reply.confidence),
    }
    if rule(numbering.book.state, "judges") != "1":  # those of a single judge are part of its decision
        parts["falsifiers"] = "\n\n".join(reply.falsifiers)
    return statement(step, "summary", parts)


def _sides(book: Book) -> Counter[str]:
    """Return whose arguments the judges upheld, or refuted those of the other side."""
    sides: Counter[str] = Counter()
    for event in book.of(Standing):
        # A standing in between favors neither side, so only clear ones count.
        if event.standing in ("UPHELD", "REFUTED"):
            is_for_pro = (book.by_id[event.of].by == "pro") == (event.standing == "UPHELD")
            sides["pro" if is_for_pro else "con"] += 1
    return sides


STEPS: Final = StepTable(
    (
        StepRow(
            "opening",
            asks(*SIDES),
            OpeningReply,
            says("opening", "position"),
            _arguments,
            lambda _, reply: repeated((draft.claim for draft in reply.arguments), "arguments"),
            Loss("survivor_only", "only a side that opened is judged; without any, nothing is"),
        ),
        StepRow(
            "crossing",
            asks(*SIDES),
            SideQuestionsReply,
            lambda _, step, reply: statement(
                step,
                "review",
                {"responses": "\n\n".join(f"{draft.target}: {draft.claim}" for draft in reply.responses)},
            ),
            each("responses", Challenge, "target"),
            _wrong_cross,
            Loss("skipped", "the other side is not questioned; neither side answers or closes"),
            sees=(_OPENINGS,),
            when=after("opening", len(SIDES)),
        ),
        StepRow(
            "answering",
            asks(*SIDES),
            SideAnswersReply,
            lambda _, step, reply: statement(
                step,
                "review",
                {"answers": "\n\n".join(f"{answer.to}: {answer.outcome}" for answer in reply.answers)},
            ),
            each("answers", Response, "to"),
            _wrong_answers,
            Loss("skipped", "the questions to this side stay unanswered"),
            sees=(Pick("opening", whose="own"), Pick("crossing", kinds=("challenge",), whose="aimed")),
            when=after("crossing", len(SIDES)),
        ),
        StepRow(
            "closing",
            asks(*SIDES),
            SideClosingReply,
            _closing,
            wrong=_wrong_closing,
            loss=Loss("skipped", "this side has no closing"),
            sees=(_OPENINGS, _CROSSINGS, _ANSWERS),
            when=after("crossing", len(SIDES)),
        ),
        StepRow(
            "judging",
            repeated_step("judge", _judges),
            lambda state: JUDGEMENTS[rule(state, "rubric")],
            _judged,
            scores,
            wrong_judgement,
            Loss("raw_side_by_side", "the other judges decide; without any, a person", decides=True),
            sees=(_OPENINGS, _CROSSINGS, _ANSWERS, Pick("closing", kinds=("statement",))),
            when=after("opening"),
            stand_in=_no_judge_left,
        ),
    )
)


DEBATE: Final[Protocol] = STEPS.protocol(
    "debate",
    "two sides open, question each other, answer and close; a judge, or a panel, scores every argument",
    (
        RoleDefinition("pro", "What speaks for it?", "charters/pro", "For"),
        RoleDefinition("con", "What speaks against it?", "charters/con", "Against"),
        RoleDefinition("judge", "Which arguments stand?", "charters/judge", "Judge"),
    ),
    variants={"judges": ("1", "2", "3", "4", "5"), "rubric": ("logic30", "evidence40")},
    owed=panel_decision,
    fits="a question for yes or no, with something to be said on both sides",
    calls="8, and one for each judge",
    sides=_sides,
    rivals=("pro", "con"),
)
