"""`devils-advocate`: the strongest form of a position, attacked in that form, defended or conceded (AD-30).

Laws
1. steelman, attack, defence, rating: each in turn; the attacker sees the steelman's text and never the question.
2. Exactly five challenges, ranked; each is defended with new evidence or conceded with a revision.
3. The attacker says of each what became of it: addressed, partially addressed or deflected; the judge sums up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events import Challenge, Disposition, Event, Response
from ledger.events.decisions import Zones
from ledger.events.envelope import Five
from roles.protocol import Loss, Pick, Protocol, QuestionKind, RoleDefinition, Step
from roles.replies import AnswerDraft, Evidence, Falsifiers, Part, Passage, RefText, Sentence, Text, Word
from rounds.protocols.citations import (
    Quotable,
    challenges_problems,
    cites,
    defended_anew,
    one_for_each,
    out_of_order,
    something,
)
from rounds.protocols.sides import GIVEN_UP, by_disposition, defended
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
)

CHALLENGES: Final = 5


class SteelmanReply(Part, frozen=True, kw_only=True):
    """The position at its strongest."""

    position: Passage


class AttackDraft(Part, frozen=True, kw_only=True):
    """One ranked challenge: an assumption, a counter-argument and a concrete risk in one."""

    claim: Sentence
    text: Text
    target: RefText
    severity: Five
    evidence: Evidence


class AttackReply(Part, frozen=True, kw_only=True):
    """Exactly five challenges, the heaviest first."""

    challenges: Annotated[tuple[AttackDraft, ...], Meta(min_length=CHALLENGES, max_length=CHALLENGES)]


class DefenceDraft(AnswerDraft, frozen=True, kw_only=True):
    """Defending with evidence, or conceding with a revision."""


class DefenceReply(Part, frozen=True, kw_only=True):
    """One answer to each challenge, and the position as it stands then."""

    answers: Annotated[tuple[DefenceDraft, ...], Meta(min_length=1, max_length=CHALLENGES)]
    position: Passage


class RatedDraft(Part, frozen=True, kw_only=True):
    """What became of one challenge, in its author's eyes."""

    of: Word
    disposition: Literal["addressed", "partially_addressed", "deflected"]
    reason: Text


class RatingReply(Part, frozen=True, kw_only=True):
    """A rating of every defence."""

    ratings: Annotated[tuple[RatedDraft, ...], Meta(min_length=1, max_length=CHALLENGES)]


class VerdictReply(Part, frozen=True, kw_only=True):
    """What became of the position, and what would show the verdict to be wrong."""

    survived: Text
    strengthened: Text
    needs_work: Text
    abandon: Text
    decision: Text
    confidence: Five
    falsifiers: Falsifiers


def _wrong_attack(known: Quotable, reply: AttackReply) -> Iterator[str]:
    # The target must be in the steelman's text: the attacker never sees the question itself.
    yield from challenges_problems(known, reply.challenges)
    yield from out_of_order([draft.severity for draft in reply.challenges], "challenges")


def _decision(numbering: Numbering, step: Step, reply: VerdictReply) -> Iterator[Event]:
    # A challenge without a rating counts as not addressed, the careful reading.
    rated = {event.of: event.disposition for event in numbering.book.of(Disposition)}
    challenges = [event.id for event in numbering.book.of(Challenge)]
    yield numbering.decision(
        step,
        reply,
        cites(
            "challenge",
            [(name, "resolves" if rated.get(name) == "addressed" else "builds-on") for name in challenges],
        ),
        # What is given up is settled, so it is not contested.
        zones=Zones(
            agreement=something(reply.survived, reply.strengthened), contested=something(reply.needs_work)
        ),
        narratives=[f"{GIVEN_UP}{text}" for text in something(reply.abandon)],
    )


_STEELMAN: Final = Pick("steelman", kinds=("statement",))
_ATTACK: Final = Pick("attack", kinds=("challenge",))
_DEFENCE: Final = Pick("defence", kinds=("statement", "response"))

STEPS: Final = StepTable(
    (
        StepRow(
            "steelman",
            asks("steelman"),
            SteelmanReply,
            says("steelman", "position"),
            loss=Loss("skipped", "there is no position to attack"),
        ),
        StepRow(
            "attack",
            asks("devils_advocate"),
            AttackReply,
            lambda _, step, reply: statement(
                step, "review", {"challenges": "\n\n".join(draft.claim for draft in reply.challenges)}
            ),
            each("challenges", Challenge, type="attack", ranked=True),
            _wrong_attack,
            Loss("survivor_only", "the position stands unattacked, so nothing is judged"),
            sees=(_STEELMAN,),
            question=None,
            when=after("steelman"),
        ),
        StepRow(
            "defence",
            asks("steelman"),
            DefenceReply,
            says("supplement", "position"),
            each("answers", Response, "to", revised=revised("position", "concede")),
            defended_anew,
            Loss("skipped", "the attacks stand undefended"),
            sees=(_STEELMAN, _ATTACK),
            when=after("attack"),
        ),
        StepRow(
            "rating",
            asks("devils_advocate"),
            RatingReply,
            lambda _, step, reply: statement(
                step,
                "assessment",
                {"ratings": "\n\n".join(f"{row.of}: {row.reason}" for row in reply.ratings)},
            ),
            each("ratings", Disposition, "of"),
            one_for_each("ratings", "of", Challenge, "challenge"),
            Loss("skipped", "the judge has no ratings of the attacker"),
            sees=(_STEELMAN, _ATTACK, _DEFENCE),
            question=None,
            when=after("defence"),
        ),
        StepRow(
            "verdict",
            asks("judge"),
            VerdictReply,
            lambda _, step, reply: statement(
                step,
                "summary",
                {
                    "survived": reply.survived,
                    "strengthened": reply.strengthened,
                    "needs-work": reply.needs_work,
                    "abandon": reply.abandon,
                },
            ),
            _decision,
            loss=LOST_VERDICT,
            sees=(_STEELMAN, _ATTACK, _DEFENCE, Pick("rating", kinds=("disposition",))),
            when=after("attack"),
            stand_in=side_by_side,
        ),
    )
)

DEVILS_ADVOCATE: Final[Protocol] = STEPS.protocol(
    "devils-advocate",
    "the strongest form of a position, five attacks on it, concede or defend, and what survived",
    (
        RoleDefinition("steelman", "What is the strongest form of this?", "charters/steelman", "Steelman"),
        RoleDefinition(
            "devils_advocate", "Why is even that wrong?", "charters/devils_advocate", "Devil's advocate"
        ),
        RoleDefinition("judge", "What survived?", "charters/judge", "Judge"),
    ),
    questions=(QuestionKind("position", "a position to attack"),),
    fits="a position that you hold and want to see attacked at its strongest",
    calls="5",
    sides=by_disposition(
        {"addressed": "steelman", "partially_addressed": "undecided", "deflected": "devils_advocate"}
    ),
    disputed=defended,
    rivals=("steelman", "devils_advocate"),
)
