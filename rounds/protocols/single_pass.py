"""`single-pass` and `council`: one seat that plans, criticises itself and revises, once or three times (JB-5, JB-6).

Laws
1. One reply holds the plan, its assumptions, at least three criticisms, what becomes of each, and the revised plan;
   where the question has options, also which of them the decision is for.
2. `dispositions = two` knows accepted and rejected; `three` knows escalated too, with a question for a person (JB-6).
3. A council is the same step three times side by side, or as often as `members` says, each in a context of its own;
   the results are not joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from ledger.events import Assumption, Challenge, Disposition, Event
from ledger.events.envelope import Five
from ledger.state.state import State
from roles.protocol import Loss, Protocol, QuestionKind, RoleDefinition, Step
from roles.replies import Falsifiers, Part, Passage, Requirements, Sentence, Text, Word
from rounds.protocols.citations import Quotable, cites, repeated
from rounds.protocols.jugalbandi import RELATIONS, AssumptionDraft, escalated, unmatched
from rounds.protocols.sides import ACCEPTED_OR_NOT, by_disposition
from rounds.protocols.step_table import (
    Numbering,
    StepRow,
    StepTable,
    each,
    repeated_step,
    rule,
    says,
    statement_id,
)

MEMBERS: Final = ("3", "5", "9", "17", "33", "65")


class CriticismDraft(Part, frozen=True, kw_only=True):
    """A criticism of one's own plan, and what becomes of it."""

    claim: Sentence
    text: Text
    disposition: Literal["accepted", "rejected", "escalated"]
    reason: Text
    revision: Text | None
    question: Text | None


class PassReply(Part, frozen=True, kw_only=True):
    """Plan, assumptions, criticisms, the revised plan, what would show it wrong, and what it asks for."""

    plan: Passage
    assumptions: Annotated[tuple[AssumptionDraft, ...], Meta(max_length=40)]
    criticisms: Annotated[tuple[CriticismDraft, ...], Meta(min_length=3, max_length=10)]
    decision: Text
    revised: Passage
    confidence: Five
    falsifiers: Falsifiers
    requirements: Requirements


class ChosenPass(PassReply, frozen=True, kw_only=True):
    """The same where the question names options: which of them the decision is for."""

    answers: Annotated[Word | None, Meta(description="the option you decide for, O-n; null for none of them")]


def _wrong(known: Quotable, reply: PassReply) -> Iterator[str]:
    options = {option.id for option in known.opened.options}
    # Null is allowed: a seat may decide for none of the options.
    if isinstance(reply, ChosenPass) and reply.answers is not None and reply.answers not in options:
        yield f"answers: {reply.answers!r} is none of {', '.join(sorted(options))}"
    yield from repeated((draft.claim for draft in reply.criticisms), "criticisms")
    may_escalate = rule(known.state, "dispositions") == "three"
    for n, draft in enumerate(reply.criticisms):
        # JB-5: the published baseline knows two dispositions only, so escalation is a variant.
        if draft.disposition == "escalated" and not may_escalate:
            yield f"criticisms[{n}].disposition: accepted or rejected"
    yield from unmatched(reply.criticisms, "criticisms", "criticism")


def _records(numbering: Numbering, step: Step, reply: PassReply) -> Iterator[Event]:
    yield from each("assumptions", Assumption)(numbering, step, reply)
    plan, state = statement_id(step), numbering.book.state
    # All challenges are numbered before any question, so the ids follow the kinds and not the criticisms.
    challenges = list(
        each("criticisms", Challenge, target=f"{plan}#plan", type="attack", ranked=True)(
            numbering, step, reply
        )
    )
    yield from challenges
    numbered = [(event.id, draft) for event, draft in zip(challenges, reply.criticisms, strict=True)]
    for identity, draft in numbered:
        yield numbering.event(Disposition, step, draft, of=identity)
        if draft.question:
            yield escalated(numbering, step, draft.question, identity)
    yield numbering.decision(
        step,
        reply,
        cites("challenge", [(identity, RELATIONS[draft.disposition]) for identity, draft in numbered]),
        # A council has one decision for each member; none of them is the run's final one.
        type="final" if state.opening.protocol == "single-pass" else "round",
        made_by="resolver",
        round_artifact_refs=(f"{plan}#revised",),
        about=(reply.answers,) if isinstance(reply, ChosenPass) and reply.answers else (),
    )


def _members(state: State) -> int:
    named = rule(state, "members")  # A ledger from before the variant has no such rule.
    return int(named if named in MEMBERS else MEMBERS[0])


def _protocol(name: str, summary: str, times: Callable[[State], int], lost: str, **more: Any) -> Protocol:
    row = StepRow(
        "plan",
        repeated_step("solo", times),
        # Where the question names options, one of them is chosen.
        lambda state: ChosenPass if state.opening.options else PassReply,
        says("plan", "plan", "revised"),
        _records,
        _wrong,
        Loss("skipped", lost, decides=True),
    )
    solo = RoleDefinition(
        "solo", "What is to be done, and what is wrong with that?", "charters/solo", "Planner"
    )
    return StepTable((row,)).protocol(
        name, summary, (solo,), prompts="single-pass", sides=by_disposition(ACCEPTED_OR_NOT), **more
    )


_DISPOSITIONS: Final = ("two", "three")
# A single reply is not checked, so both kinds name their objects: "convert" alone may be a year's work.
SINGLE_PASS: Final = _protocol(
    "single-pass",
    "one seat plans, criticises itself and revises: the baseline",
    lambda _: 1,
    "there is no plan",
    variants={"dispositions": _DISPOSITIONS},
    questions=(
        QuestionKind("chore", "a small chore"),
        QuestionKind("look-up", "a fact to look up"),
    ),
    fits="a question that one careful answer settles",
    calls="1",
)
COUNCIL: Final = _protocol(
    "council",
    "three seats, or more, do the same side by side, unjoined: the baseline at equal calls or equal output",
    _members,
    "the council has one plan fewer",
    variants={"dispositions": _DISPOSITIONS, "members": MEMBERS},
    fits="comparing with jugalbandi at equal calls, or with structured at equal output",
    calls="3, or as many as --rule members=N says",
)
