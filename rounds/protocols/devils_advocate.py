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

from ledger.events import Challenge, Decision, Disposition, Event, Response
from ledger.events.decisions import Cite, Zones
from ledger.events.ids import event_id, number_of
from ledger.events.values import Five
from ledger.state.state import State
from roles.protocol import Pick, Protocol, RoleDefinition, Step
from roles.replies import Cited, Part, Passage, RefText, Sentence, Text, Word
from rounds.protocols.hanging import Falsifiers, hangs_on
from rounds.protocols.quotable import Quotable, exactly_one, no_new_evidence, out_of_order, repeated
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
    evidence: Annotated[tuple[Cited, ...], Meta(max_length=6)]


class AttackReply(Part, frozen=True, kw_only=True):
    """Exactly five challenges, the heaviest first."""

    challenges: Annotated[tuple[AttackDraft, ...], Meta(min_length=CHALLENGES, max_length=CHALLENGES)]


class DefenceDraft(Part, frozen=True, kw_only=True):
    """Defending with evidence, or conceding with a revision."""

    to: Word
    outcome: Literal["defend", "concede"]
    text: Text
    evidence: Annotated[tuple[Cited, ...], Meta(max_length=6)]


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
    yield from repeated((draft.claim for draft in reply.challenges), "challenges")
    yield from out_of_order([draft.severity for draft in reply.challenges], "challenges")
    for n, draft in enumerate(reply.challenges):
        # The target must be in the steelman's text: the attacker never sees the question itself.
        yield from known.reference_problems(draft.target, f"challenges[{n}].target")
        yield from known.evidence_problems(draft.evidence, f"challenges[{n}].evidence")


def _challenges(numbering: Numbering, step: Step, reply: AttackReply) -> Iterator[Event]:
    for rank, draft in enumerate(reply.challenges, 1):
        yield Challenge(
            **by(step),
            id=numbering.number("challenge"),
            target=draft.target,
            type="attack",
            claim=draft.claim,
            text=draft.text,
            rank=rank,
            evidence=evidence_of(draft.evidence),
            severity=draft.severity,
        )


def _wrong_defence(known: Quotable, reply: DefenceReply) -> Iterator[str]:
    yield from exactly_one(
        (draft.to for draft in reply.answers), known.ids_of(Challenge), "answers", "challenge"
    )
    for n, draft in enumerate(reply.answers):
        yield from known.evidence_problems(draft.evidence, f"answers[{n}].evidence")
        # A defense without new evidence is a repetition, which AD-20 calls no answer.
        if draft.outcome == "defend":
            yield from no_new_evidence(known, draft.to, draft.evidence, f"answers[{n}].evidence")


def _defences(numbering: Numbering, step: Step, reply: DefenceReply) -> Iterator[Event]:
    for draft in sorted(reply.answers, key=lambda draft: number_of(draft.to)):
        yield Response(
            **by(step),
            id=numbering.number("response"),
            to=draft.to,
            outcome=draft.outcome,
            text=draft.text,
            evidence=evidence_of(draft.evidence),
            revised=f"{event_id('statement', step.name.round, 'defence', step.role)}#position"
            if draft.outcome == "concede"
            else None,
        )


def _wrong_ratings(known: Quotable, reply: RatingReply) -> Iterator[str]:
    yield from exactly_one(
        (draft.of for draft in reply.ratings), known.ids_of(Challenge), "ratings", "challenge"
    )


def _dispositions(numbering: Numbering, step: Step, reply: RatingReply) -> Iterator[Event]:
    del numbering
    for draft in sorted(reply.ratings, key=lambda draft: number_of(draft.of)):
        yield Disposition(**by(step), of=draft.of, disposition=draft.disposition, reason=draft.reason)


def _decision(numbering: Numbering, step: Step, reply: VerdictReply) -> Iterator[Event]:
    # A challenge without a rating counts as not addressed, the careful reading.
    rated = {event.of: event.disposition for event in numbering.book.events if isinstance(event, Disposition)}
    challenges = [event.id for event in numbering.book.events if isinstance(event, Challenge)]
    yield Decision(
        **by(step),
        id=numbering.number("decision"),
        text=reply.decision,
        type="final",
        cites=tuple(
            Cite(
                type="challenge",
                id=identity,
                relation="resolves" if rated.get(identity) == "addressed" else "builds-on",
            )
            for identity in challenges
        ),
        made_by="judge",
        confidence=reply.confidence,
        zones=Zones(
            agreement=(reply.survived, reply.strengthened), contested=(reply.needs_work, reply.abandon)
        ),
        **hangs_on(reply),
    )


def _is_attacked(state: State, round_: int) -> bool:
    return handed_in(state, round_, "attack") > 0


_STEELMAN: Final = Pick("steelman", kinds=("statement",))
_ATTACK: Final = Pick("attack", kinds=("challenge",))
_DEFENCE: Final = Pick("defence", kinds=("statement", "response"))

SHEET: Final = Sheet(
    (
        StepRow(
            "steelman",
            asks("steelman"),
            SteelmanReply,
            lambda _, step, reply: statement(step, "steelman", {"position": reply.position}),
        ),
        StepRow(
            "attack",
            asks("devils_advocate"),
            AttackReply,
            lambda _, step, reply: statement(
                step, "review", {"challenges": "\n\n".join(draft.claim for draft in reply.challenges)}
            ),
            _challenges,
            _wrong_attack,
            sees=(_STEELMAN,),
            question=None,
            when=lambda state, round_: handed_in(state, round_, "steelman") > 0,
        ),
        StepRow(
            "defence",
            asks("steelman"),
            DefenceReply,
            lambda _, step, reply: statement(step, "supplement", {"position": reply.position}),
            _defences,
            _wrong_defence,
            sees=(_STEELMAN, _ATTACK),
            when=_is_attacked,
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
            _dispositions,
            _wrong_ratings,
            sees=(_STEELMAN, _ATTACK, _DEFENCE),
            question=None,
            when=lambda state, round_: handed_in(state, round_, "defence") > 0,
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
            sees=(_STEELMAN, _ATTACK, _DEFENCE, Pick("rating", kinds=("disposition",))),
            when=_is_attacked,
            stand_in=side_by_side,
        ),
    )
)

DEVILS_ADVOCATE: Final[Protocol] = SHEET.protocol(
    "devils-advocate",
    "the strongest form of a position, five attacks on it, concede or defend, and what survived",
    (
        RoleDefinition("steelman", "What is the strongest form of this?", "charters/steelman", "Steelman"),
        RoleDefinition(
            "devils_advocate", "Why is even that wrong?", "charters/devils_advocate", "Devil's advocate"
        ),
        RoleDefinition("judge", "What survived?", "charters/judge", "Judge"),
    ),
    fits="a position that you hold and want to see attacked at its strongest",
    calls="5",
)
