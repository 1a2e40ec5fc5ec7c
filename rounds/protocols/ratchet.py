"""`ratchet`: a draft, exactly three critiques, each fixed or justified (AD-24 … AD-26).

Laws
1. drafter, critic, reviser, one step each; the critic sees the draft and never the question.
2. Exactly three critiques, each with the words it is about, why they are weak, and a fix; nothing else.
3. The reviser fixes or justifies each in one sentence, then hands in the whole text.
4. Without critiques nothing is revised, and without a reviser nothing is decided: the run ends unanswered, with the
   draft and the critiques that there are (AD-26).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events import Challenge, Event, Response
from ledger.events.ids import number_of
from ledger.state.book import Book
from roles.protocol import Loss, Pick, Protocol, QuestionKind, RoleDefinition, Step
from roles.replies import Cited, Part, Passage, Sentence, Text, Word
from rounds.protocols.citations import Quotable, cites, one_for_each, repeated
from rounds.protocols.step_table import (
    LOST_VERDICT,
    Numbering,
    StepRow,
    StepTable,
    after,
    asks,
    each,
    revised,
    says,
    side_by_side,
    statement,
    statement_id,
)

CRITIQUES: Final = 3


class DraftReply(Part, frozen=True, kw_only=True):
    """The draft."""

    text: Passage


class Critique(Part, frozen=True, kw_only=True):
    """The words, why they are weak, and what would mend them."""

    quote: Cited
    weakness: Text
    fix: Text


class CritiqueReply(Part, frozen=True, kw_only=True):
    """Exactly three critiques."""

    critiques: Annotated[tuple[Critique, ...], Meta(min_length=CRITIQUES, max_length=CRITIQUES)]


class Mended(Part, frozen=True, kw_only=True):
    """What was done about one critique, in one sentence."""

    to: Word
    outcome: Literal["fix", "justify"]
    text: Sentence


class RevisionReply(Part, frozen=True, kw_only=True):
    """What was done about each critique, and the whole text."""

    answers: Annotated[tuple[Mended, ...], Meta(min_length=CRITIQUES, max_length=CRITIQUES)]
    text: Passage
    decision: Sentence


def _wrong_critiques(_: Quotable, reply: CritiqueReply) -> Iterator[str]:
    yield from repeated((critique.weakness for critique in reply.critiques), "critiques")
    for n, critique in enumerate(reply.critiques):
        # Without the words, the reviser could not tell which passage is meant (AD-24).
        if critique.quote.quote is None:
            yield f"critiques[{n}].quote: the exact words that are weak are wanted"


def _critiques(numbering: Numbering, step: Step, reply: CritiqueReply) -> Iterator[Event]:
    for rank, critique in enumerate(reply.critiques, 1):
        yield numbering.event(
            Challenge,
            step,
            target=critique.quote.ref,
            type="challenge",
            claim=critique.weakness,
            text=critique.fix,
            rank=rank,
            evidence=(critique.quote,),
        )


def _revision(numbering: Numbering, step: Step, reply: RevisionReply) -> Iterator[Event]:
    yield from each("answers", Response, "to", revised=revised("text", "fix"))(numbering, step, reply)
    # A justified critique is settled without a change; the decision rests on those that were fixed (AD-25).
    relations = [
        (answer.to, "based-on" if answer.outcome == "fix" else "resolves")
        for answer in sorted(reply.answers, key=lambda answer: number_of(answer.to))
    ]
    text = f"{statement_id(step)}#text"
    yield numbering.decision(
        step, reply, cites("challenge", relations), made_by="resolver", round_artifact_refs=(text,)
    )


_DRAFT: Final = Pick("draft", kinds=("statement",))


def _sides(book: Book) -> Counter[str]:
    """Return how many critiques were fixed, and how many justified."""
    return Counter(
        "critic" if event.outcome == "fix" else "drafter"
        for event in book.of(Response)
        if event.outcome in ("fix", "justify")
    )


STEPS: Final = StepTable(
    (
        StepRow(
            "draft",
            asks("drafter"),
            DraftReply,
            says("proposal", "text"),
            loss=Loss("skipped", "there is no draft, so nothing is criticised or revised"),
        ),
        StepRow(
            "critique",
            asks("critic"),
            CritiqueReply,
            lambda _, step, reply: statement(
                step, "review", {"critiques": "\n\n".join(critique.weakness for critique in reply.critiques)}
            ),
            _critiques,
            _wrong_critiques,
            Loss("survivor_only", "the draft stands uncriticised and unrevised"),
            sees=(_DRAFT,),
            question=None,
            when=after("draft"),
        ),
        StepRow(
            "revision",
            asks("reviser"),
            RevisionReply,
            says("plan", "text"),
            _revision,
            one_for_each("answers", "to", Challenge, "challenge"),
            LOST_VERDICT,
            sees=(_DRAFT, Pick("critique", kinds=("challenge",))),
            when=after("critique"),
            stand_in=side_by_side,
        ),
    )
)

RATCHET: Final[Protocol] = STEPS.protocol(
    "ratchet",
    "a draft, exactly three critiques, each fixed or justified",
    (
        RoleDefinition("drafter", "What is the text?", "charters/drafter", "Drafter"),
        RoleDefinition("critic", "Where is it weakest?", "charters/critic", "Critic"),
        RoleDefinition("reviser", "What is done about it?", "charters/reviser", "Reviser"),
    ),
    questions=(QuestionKind("text", "a text to write or improve"),),
    fits="a text that has to be good and is not worth a debate",
    calls="3",
    sides=_sides,
    rivals=("critic", "drafter"),
)
