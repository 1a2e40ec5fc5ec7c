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

from ledger.events import Assumption, Challenge, Concern, Decision, Disposition, Event
from ledger.events.decisions import Cite
from ledger.events.values import Five
from ledger.state.state import State
from roles.protocol import Protocol, RoleDefinition, Step
from roles.replies import Part, Passage, Sentence, Text, Word
from rounds.protocols.hanging import Falsifiers, Requirements, hangs_on
from rounds.protocols.jugalbandi import RELATIONS, AssumptionDraft
from rounds.protocols.quotable import Quotable, repeated
from rounds.protocols.step_table import Numbering, Sheet, StepRow, by, repeated_step, rule, statement

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


def _shape(state: State) -> type[PassReply]:
    """Return the shape of a reply: where the question names options, one of them is chosen."""
    return ChosenPass if state.opening.options else PassReply


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
        if (draft.disposition == "accepted") != bool(draft.revision):
            yield f"criticisms[{n}].revision: given if and only if the criticism is accepted"
        if (draft.disposition == "escalated") != bool(draft.question):
            yield f"criticisms[{n}].question: given if and only if the criticism is escalated"


def _text(_: Numbering, step: Step, reply: PassReply) -> tuple[Event, ...]:
    return statement(step, "plan", {"plan": reply.plan, "revised": reply.revised})


def _records(numbering: Numbering, step: Step, reply: PassReply) -> Iterator[Event]:
    (text,) = _text(numbering, step, reply)
    for assumption in reply.assumptions:
        identity = numbering.number("assumption")
        yield Assumption(**by(step), id=identity, text=assumption.text, unrequested=assumption.unrequested)
    # All challenges are numbered before any question, so the ids follow the kinds and not the criticisms.
    numbered = [(numbering.number("challenge"), draft) for draft in reply.criticisms]
    for rank, (identity, draft) in enumerate(numbered, 1):
        yield Challenge(
            **by(step),
            id=identity,
            target=f"{text.id}#plan",
            type="attack",
            claim=draft.claim,
            text=draft.text,
            rank=rank,
        )
    for identity, draft in numbered:
        yield Disposition(
            **by(step),
            of=identity,
            disposition=draft.disposition,
            reason=draft.reason,
            revision=draft.revision,
            question=draft.question,
        )
        if draft.question:
            yield Concern(
                **by(step),
                id=numbering.number("concern"),
                type="question",
                text=draft.question,
                between=(identity,),
                for_human=True,
            )
    yield Decision(
        **by(step),
        id=numbering.number("decision"),
        text=reply.decision,
        type="final" if _is_alone(numbering) else "round",
        cites=tuple(
            Cite(type="challenge", id=identity, relation=RELATIONS[draft.disposition])
            for identity, draft in numbered
        ),
        made_by="resolver",
        round_artifact_refs=(f"{text.id}#revised",),
        about=(reply.answers,) if isinstance(reply, ChosenPass) and reply.answers else (),
        confidence=reply.confidence,
        **hangs_on(reply),
    )


def _is_alone(numbering: Numbering) -> bool:
    # A council has one decision for each member; none of them is the run's final one.
    return numbering.book.state.opening.protocol == "single-pass"


def _alone(state: State) -> int:
    del state
    return 1


def _members(state: State) -> int:
    named = rule(state, "members")  # A ledger from before the variant has no such rule.
    return int(named if named in MEMBERS else MEMBERS[0])


def _protocol(name: str, summary: str, times: Callable[[State], int], **more: Any) -> Protocol:
    sheet = Sheet((StepRow("plan", repeated_step("solo", times), _shape, _text, _records, _wrong),))
    solo = RoleDefinition(
        "solo", "What is to be done, and what is wrong with that?", "charters/solo", "Planner"
    )
    return sheet.protocol(name, summary, (solo,), prompts="single-pass", **more)


_DISPOSITIONS: Final = ("two", "three")
SINGLE_PASS: Final = _protocol(
    "single-pass",
    "one seat plans, criticises itself and revises: the baseline",
    _alone,
    variants={"dispositions": _DISPOSITIONS},
    fits="a question that one careful answer settles",
    calls="1",
)
COUNCIL: Final = _protocol(
    "council",
    "three seats, or more, do the same side by side, unjoined: the baseline at equal calls or equal output",
    _members,
    variants={"dispositions": _DISPOSITIONS, "members": MEMBERS},
    fits="comparing with jugalbandi at equal calls, or with structured at equal output",
    calls="3, or as many as --rule members=N says",
)
