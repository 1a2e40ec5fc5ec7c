"""`jugalbandi`: a plan, at least three tagged challenges, a disposition for each (JB-1 … JB-4, JB-24 … JB-32).

Laws
1. proposer, then challenger, then resolver; each in a context of its own.
2. The challenger sees the plan and its assumptions and never the question; the resolver sees these and the challenges,
   never the question and no role's charter.
3. Every challenge has exactly one tag, and gets exactly one disposition: accepted with a revision, rejected, or
   escalated with a question for a person. An escalated question is put to a person, never answered by a seat, and the
   run waits for the answer before it closes (JB-28), unless `wait = "off"` is set.
   Without a plan nothing is challenged, and without challenges nothing is resolved: the plan is then the result.
4. A second round challenges the revised plan alone; there is no third (JB-27), and nothing ends by approval (JB-32).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from ledger.events import Assumption, Challenge, Concern, Disposition, Event
from ledger.events.envelope import Five
from ledger.events.ids import number_of
from ledger.events.run import PlanRow
from roles.protocol import Loss, Pick, Protocol, QuestionKind, RoleDefinition, Rules, Step
from roles.replies import Evidence, Falsifiers, Part, Passage, RefText, Requirements, Sentence, Text, Word
from rounds.protocols.citations import Quotable, challenges_problems, cites, one_for_each
from rounds.protocols.sides import ACCEPTED_OR_NOT, by_disposition
from rounds.protocols.step_table import (
    LOST_VERDICT,
    Numbering,
    StepRow,
    StepTable,
    after,
    asks,
    each,
    handed_in,
    says,
    side_by_side,
    statement,
    statement_id,
)


class AssumptionDraft(Part, frozen=True, kw_only=True):
    """A choice that a plan makes."""

    text: Sentence
    unrequested: bool


class PlanReply(Part, frozen=True, kw_only=True):
    """The plan with every assumption (JB-2)."""

    plan: Passage
    assumptions: Annotated[tuple[AssumptionDraft, ...], Meta(min_length=5, max_length=40)]


class ChallengeDraft(Part, frozen=True, kw_only=True):
    """One challenge with its tag (JB-3, JB-26)."""

    tag: Literal["STRUCTURAL", "ASSUMPTION", "MISSING"]
    claim: Sentence
    text: Text
    target: RefText
    evidence: Evidence


class ChallengesReply(Part, frozen=True, kw_only=True):
    """At least three challenges."""

    challenges: Annotated[tuple[ChallengeDraft, ...], Meta(min_length=3, max_length=10)]


class DispositionDraft(Part, frozen=True, kw_only=True):
    """What becomes of one challenge (JB-4)."""

    of: Word
    disposition: Literal["accepted", "rejected", "escalated"]
    reason: Text
    revision: Text | None
    question: Text | None


class ResolutionReply(Part, frozen=True, kw_only=True):
    """A disposition for every challenge, the final plan, what would show it wrong, and what it asks for."""

    dispositions: Annotated[tuple[DispositionDraft, ...], Meta(min_length=1, max_length=10)]
    decision: Text
    plan: Passage
    confidence: Five
    falsifiers: Falsifiers
    requirements: Requirements


def _wrong_resolution(known: Quotable, reply: ResolutionReply) -> Iterator[str]:
    yield from one_for_each("dispositions", "of", Challenge, "challenge")(known, reply)
    yield from unmatched(reply.dispositions, "dispositions", "challenge")


def unmatched(drafts: Sequence[Any], where: str, what: str) -> Iterator[str]:
    """Yield dispositions that lack their revision or question, or have one that belongs to another disposition."""
    for n, draft in enumerate(drafts):
        # JB-4: an accepted challenge comes with its revision, and no other one may change the plan.
        if (draft.disposition == "accepted") != bool(draft.revision):
            yield f"{where}[{n}].revision: given if and only if the {what} is accepted"
        # JB-28: escalation is a question to a person; without one it could not be answered.
        if (draft.disposition == "escalated") != bool(draft.question):
            yield f"{where}[{n}].question: given if and only if the {what} is escalated"


RELATIONS: Final = {"accepted": "based-on", "rejected": "resolves", "escalated": "builds-on"}
"""Relation of a decision to a challenge, by what became of it."""


def _dispositions(numbering: Numbering, step: Step, reply: ResolutionReply) -> Iterator[Event]:
    yield from each("dispositions", Disposition, "of")(numbering, step, reply)
    ordered = sorted(reply.dispositions, key=lambda draft: number_of(draft.of))
    for draft in ordered:
        if draft.question:
            yield escalated(numbering, step, draft.question, draft.of)
    # In a run of two rounds the first decision is a step on the way, and only the second is final.
    is_last = step.name.round == numbering.book.state.opening.plan[-1].round
    yield numbering.decision(
        step,
        reply,
        cites("challenge", [(draft.of, RELATIONS[draft.disposition]) for draft in ordered]),
        type="final" if is_last else "round",
        made_by="resolver",
        round_artifact_refs=(f"{statement_id(step)}#plan",),
    )


def escalated(numbering: Numbering, step: Step, question: str, challenge: str) -> Concern:
    """Return the question to a person that an escalated challenge comes with."""
    return numbering.event(
        Concern, step, type="question", text=question, between=(challenge,), for_human=True
    )


_REVISED: Final = Pick("resolve", kinds=("statement",), sections=("plan",), back=1)
_PLAN: Final = Pick("plan", kinds=("statement", "assumption"))

STEPS: Final = StepTable(
    (
        StepRow(
            "plan",
            asks("proposer"),
            PlanReply,
            says("plan", "plan"),
            each("assumptions", Assumption),
            loss=Loss("skipped", "there is no plan, so this round challenges and resolves nothing"),
        ),
        StepRow(
            "challenge",
            asks("challenger"),
            ChallengesReply,
            lambda _, step, reply: statement(
                step,
                "review",
                {"challenges": "\n\n".join(f"{draft.tag}: {draft.claim}" for draft in reply.challenges)},
            ),
            each("challenges", Challenge, type="attack", ranked=True),
            lambda known, reply: challenges_problems(known, reply.challenges),
            Loss("survivor_only", "nothing challenges the plan here, so this round resolves nothing"),
            sees=(_PLAN, _REVISED),
            question=None,
            # A second round has no plan of its own: it challenges the plan that was revised in the round before.
            when=lambda state, n: (handed_in(state, n, "plan") or handed_in(state, n - 1, "resolve")) > 0,
        ),
        StepRow(
            "resolve",
            asks("resolver"),
            ResolutionReply,
            says("plan", "plan"),
            _dispositions,
            _wrong_resolution,
            LOST_VERDICT,
            sees=(_PLAN, _REVISED, Pick("challenge", kinds=("challenge",))),
            question=None,
            when=after("challenge"),
            stand_in=side_by_side,
            needs_answers=True,
        ),
    )
)


def _rounds(rules: Rules, _options: int) -> tuple[PlanRow, ...]:
    first = PlanRow(round=1, phases=("plan", "challenge", "resolve"))
    second = PlanRow(round=2, phases=("challenge", "resolve"))
    return (first, second) if rules.get("rounds") == "2" else (first,)


# A plan that people dispute is a decision first.
JUGALBANDI: Final[Protocol] = STEPS.protocol(
    "jugalbandi",
    "a plan, at least three challenges from a role that never saw the task, and a disposition for each",
    (
        RoleDefinition(
            "proposer",
            "What is to be built, and what does that take for granted?",
            "charters/proposer",
            "Planner",
        ),
        RoleDefinition(
            "challenger", "Where does this plan break?", "charters/challenger", "Adversarial reviewer"
        ),
        RoleDefinition("resolver", "What becomes of each challenge?", "charters/resolver", "Decision-maker"),
    ),
    plan=_rounds,
    variants={"rounds": ("1", "2"), "wait": ("on", "off")},
    questions=(QuestionKind("task", "a task to plan"),),
    fits="a plan full of unrequested choices",
    calls="3, or 5 with rounds = 2",
    sides=by_disposition(ACCEPTED_OR_NOT),
    rivals=("challenger", "proposer"),
)
