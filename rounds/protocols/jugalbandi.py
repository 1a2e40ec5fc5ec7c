"""`jugalbandi`: a plan, at least three tagged challenges, a disposition for each (JB-1 … JB-4, JB-24 … JB-32).

Laws
1. proposer, then challenger, then resolver; each in a context of its own.
2. The challenger sees the plan and its assumptions and never the question; the resolver sees these and the challenges,
   never the question and no role's charter.
3. Every challenge has exactly one tag, and gets exactly one disposition: accepted with a revision, rejected, or
   escalated with a question for a person. An escalated question is put to a person, never answered by a seat, and the
   run waits for the answer before it closes (JB-28), unless it is told not to.
   Without a plan nothing is challenged, and without challenges nothing is resolved: the plan is then the result.
4. A second round challenges the revised plan alone; there is no third (JB-27), and nothing ends by approval (JB-32).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events import Assumption, Challenge, Concern, Decision, Disposition, Event
from ledger.events.decisions import Cite
from ledger.events.ids import event_id, number_of
from ledger.events.run import PlanRow
from ledger.events.values import Five
from ledger.state.state import State
from roles.protocol import Pick, Protocol, RoleDefinition, Rules, Step
from roles.replies import Cited, Part, Passage, RefText, Sentence, Text, Word
from rounds.protocols.hanging import Falsifiers, Requirements, hangs_on
from rounds.protocols.quotable import Quotable, exactly_one, repeated
from rounds.protocols.step_table import (
    Numbering,
    Sheet,
    StepRow,
    asks,
    by,
    evidence_of,
    handed_in,
    is_a_question,
    side_by_side,
    statement,
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
    evidence: Annotated[tuple[Cited, ...], Meta(max_length=6)]


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


def _plan(_: Numbering, step: Step, reply: PlanReply) -> tuple[Event, ...]:
    return statement(step, "plan", {"plan": reply.plan})


def _assumptions(numbering: Numbering, step: Step, reply: PlanReply) -> Iterator[Event]:
    for draft in reply.assumptions:
        identity = numbering.number("assumption")
        yield Assumption(**by(step), id=identity, text=draft.text, unrequested=draft.unrequested)


def _review(_: Numbering, step: Step, reply: ChallengesReply) -> tuple[Event, ...]:
    listed = "\n\n".join(f"{draft.tag}: {draft.claim}" for draft in reply.challenges)
    return statement(step, "review", {"challenges": listed})


def _challenges(numbering: Numbering, step: Step, reply: ChallengesReply) -> Iterator[Event]:
    for rank, draft in enumerate(reply.challenges, 1):
        yield Challenge(
            **by(step),
            id=numbering.number("challenge"),
            target=draft.target,
            tag=draft.tag,
            type="attack",
            claim=draft.claim,
            text=draft.text,
            rank=rank,
            evidence=evidence_of(draft.evidence),
        )


def _wrong_challenges(known: Quotable, reply: ChallengesReply) -> Iterator[str]:
    yield from repeated((draft.claim for draft in reply.challenges), "challenges")
    for n, draft in enumerate(reply.challenges):
        yield from known.reference_problems(draft.target, f"challenges[{n}].target")
        yield from known.evidence_problems(draft.evidence, f"challenges[{n}].evidence")


def _wrong_resolution(known: Quotable, reply: ResolutionReply) -> Iterator[str]:
    named = (draft.of for draft in reply.dispositions)
    yield from exactly_one(named, known.ids_of(Challenge), "dispositions", "challenge")
    for n, draft in enumerate(reply.dispositions):
        # JB-4: an accepted challenge comes with its revision, and no other one may change the plan.
        if (draft.disposition == "accepted") != bool(draft.revision):
            yield f"dispositions[{n}].revision: given if and only if the challenge is accepted"
        # JB-28: escalation is a question to a person; without one it could not be answered.
        if (draft.disposition == "escalated") != bool(draft.question):
            yield f"dispositions[{n}].question: given if and only if the challenge is escalated"


RELATIONS: Final[dict[str, Literal["based-on", "resolves", "builds-on"]]] = {
    "accepted": "based-on",
    "rejected": "resolves",
    "escalated": "builds-on",
}


def _resolution(_: Numbering, step: Step, reply: ResolutionReply) -> tuple[Event, ...]:
    return statement(step, "plan", {"plan": reply.plan})


def _dispositions(numbering: Numbering, step: Step, reply: ResolutionReply) -> Iterator[Event]:
    # By number, so the ledger does not depend on the order in which the reply lists them.
    ordered = sorted(reply.dispositions, key=lambda draft: number_of(draft.of))
    for draft in ordered:
        yield Disposition(
            **by(step),
            of=draft.of,
            disposition=draft.disposition,
            reason=draft.reason,
            revision=draft.revision,
            question=draft.question,
        )
    for draft in ordered:
        if draft.question:
            yield Concern(
                **by(step),
                id=numbering.number("concern"),
                type="question",
                text=draft.question,
                between=(draft.of,),
                for_human=True,
            )
    # In a run of two rounds the first decision is a step on the way, and only the second is final.
    is_last = step.name.round == numbering.book.state.opening.plan[-1].round
    yield Decision(
        **by(step),
        id=numbering.number("decision"),
        text=reply.decision,
        type="final" if is_last else "round",
        cites=tuple(
            Cite(type="challenge", id=draft.of, relation=RELATIONS[draft.disposition]) for draft in ordered
        ),
        made_by="resolver",
        round_artifact_refs=(f"{event_id('statement', step.name.round, 'resolve', step.role)}#plan",),
        confidence=reply.confidence,
        **hangs_on(reply),
    )


def _has_plan(state: State, round_: int) -> bool:
    # A second round has no plan of its own: it challenges the plan that was revised in the round before.
    return handed_in(state, round_, "plan") > 0 or handed_in(state, round_ - 1, "resolve") > 0


def _has_challenges(state: State, round_: int) -> bool:
    return handed_in(state, round_, "challenge") > 0


_REVISED: Final = Pick("resolve", kinds=("statement",), sections=("plan",), back=1)
_PLAN: Final = Pick("plan", kinds=("statement", "assumption"))

SHEET: Final = Sheet(
    (
        StepRow("plan", asks("proposer"), PlanReply, _plan, _assumptions),
        StepRow(
            "challenge",
            asks("challenger"),
            ChallengesReply,
            _review,
            _challenges,
            _wrong_challenges,
            sees=(_PLAN, _REVISED),
            question=None,
            when=_has_plan,
        ),
        StepRow(
            "resolve",
            asks("resolver"),
            ResolutionReply,
            _resolution,
            _dispositions,
            _wrong_resolution,
            sees=(_PLAN, _REVISED, Pick("challenge", kinds=("challenge",))),
            question=None,
            when=_has_challenges,
            stand_in=side_by_side,
            needs=is_a_question,
        ),
    )
)


def _rounds(rules: Rules, options: int) -> tuple[PlanRow, ...]:
    del options
    first = PlanRow(round=1, phases=("plan", "challenge", "resolve"))
    second = PlanRow(round=2, phases=("challenge", "resolve"))
    return (first, second) if rules.get("rounds") == "2" else (first,)


JUGALBANDI: Final[Protocol] = SHEET.protocol(
    "jugalbandi",
    "a plan, at least three challenges from somebody who never saw the task, and a disposition for each",
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
    fits="a plan full of choices that nobody asked for",
    calls="3, or 5 with rounds = 2",
)
