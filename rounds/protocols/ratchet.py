"""`ratchet`: a draft, exactly three critiques, each fixed or justified (AD-24 … AD-26).

Laws
1. drafter, critic, reviser, one step each; the critic sees the draft and never the question.
2. Exactly three critiques, each with the words it is about, why they are weak, and a fix; nothing else.
3. The reviser fixes or justifies each in one sentence, then hands in the whole text.
4. Without a critic the draft is the result; without a reviser it is shown with the critiques beside it (AD-26).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events import Challenge, Decision, Event, Response
from ledger.events.decisions import Cite
from ledger.events.ids import event_id, number_of
from roles.protocol import Pick, Protocol, RoleDefinition, Step
from roles.replies import Cited, Part, Passage, Sentence, Text, Word
from rounds.protocols.quotable import Quotable, exactly_one, repeated
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


def _wrong_critiques(known: Quotable, reply: CritiqueReply) -> Iterator[str]:
    yield from repeated((critique.weakness for critique in reply.critiques), "critiques")
    for n, critique in enumerate(reply.critiques):
        # Without the words, the reviser could not tell which passage is meant (AD-24).
        if critique.quote.quote is None:
            yield f"critiques[{n}].quote: the exact words that are weak are wanted"
        yield from known.reference_problems(critique.quote.ref, f"critiques[{n}].quote", critique.quote.quote)


def _critiques(numbering: Numbering, step: Step, reply: CritiqueReply) -> Iterator[Event]:
    for rank, critique in enumerate(reply.critiques, 1):
        yield Challenge(
            **by(step),
            id=numbering.number("challenge"),
            target=critique.quote.ref,
            type="challenge",
            claim=critique.weakness,
            text=critique.fix,
            rank=rank,
            evidence=evidence_of((critique.quote,)),
        )


def _wrong_revision(known: Quotable, reply: RevisionReply) -> Iterator[str]:
    yield from exactly_one(
        (answer.to for answer in reply.answers), known.ids_of(Challenge), "answers", "challenge"
    )


def _revision(numbering: Numbering, step: Step, reply: RevisionReply) -> Iterator[Event]:
    revised = f"{event_id('statement', step.name.round, 'revision', step.role)}#text"
    # By number, so the ledger does not depend on the order in which the reply lists them.
    answers = sorted(reply.answers, key=lambda answer: number_of(answer.to))
    for answer in answers:
        yield Response(
            **by(step),
            id=numbering.number("response"),
            to=answer.to,
            outcome=answer.outcome,
            text=answer.text,
            revised=revised if answer.outcome == "fix" else None,
        )
    yield Decision(
        **by(step),
        id=numbering.number("decision"),
        text=reply.decision,
        type="final",
        cites=tuple(
            # A justified critique is settled without a change; the decision rests on those
            # that were fixed (AD-25).
            Cite(
                type="challenge", id=answer.to, relation="based-on" if answer.outcome == "fix" else "resolves"
            )
            for answer in answers
        ),
        made_by="resolver",
        round_artifact_refs=(revised,),
    )


_DRAFT: Final = Pick("draft", kinds=("statement",))

SHEET: Final = Sheet(
    (
        StepRow(
            "draft",
            asks("drafter"),
            DraftReply,
            lambda _, step, reply: statement(step, "proposal", {"text": reply.text}),
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
            sees=(_DRAFT,),
            question=None,
            when=lambda state, round_: handed_in(state, round_, "draft") > 0,
        ),
        StepRow(
            "revision",
            asks("reviser"),
            RevisionReply,
            lambda _, step, reply: statement(step, "plan", {"text": reply.text}),
            _revision,
            _wrong_revision,
            sees=(_DRAFT, Pick("critique", kinds=("challenge",))),
            when=lambda state, round_: handed_in(state, round_, "critique") > 0,
            stand_in=side_by_side,
        ),
    )
)

RATCHET: Final[Protocol] = SHEET.protocol(
    "ratchet",
    "a draft, exactly three critiques, each fixed or justified",
    (
        RoleDefinition("drafter", "What is the text?", "charters/drafter", "Drafter"),
        RoleDefinition("critic", "Where is it weakest?", "charters/critic", "Critic"),
        RoleDefinition("reviser", "What is done about it?", "charters/reviser", "Reviser"),
    ),
    fits="a text that has to be good and is not worth a debate",
    calls="3",
)
