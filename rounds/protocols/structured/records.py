"""What replies of `structured` become: events at once, and those that wait until their group closes (FORMAT 3, 5)."""

from __future__ import annotations

from collections.abc import Mapping

from ledger.events import (
    Event,
    Verification,
)
from ledger.events.values import Evidence
from ledger.events.verifications import CHECKS
from ledger.state.book import Book
from roles.protocol import Group, Step
from roles.replies import (
    ActionArtifact,
    AssessmentReply,
    CheckReply,
    ClosingReply,
    CriticArtifact,
    DriftReply,
    GuardianArtifact,
    NamedSection,
    ObserverArtifact,
    PositionReply,
    Reply,
    ResolveReply,
    RetrospectiveReply,
    ReviewReply,
    StatementReply,
)
from rounds.protocols.made import statement_id
from rounds.protocols.structured.making import (
    artifact,
    claim,
    concern_of,
    decision,
    drift_check,
    flips,
    numbered,
    positions,
    rejudged_id,
    resolutions,
    role_rank,
    statement,
    tension_of,
    verification,
)
from rounds.run.schedule import NEEDS, active_roles


def record(book: Book, step: Step, reply: Reply) -> tuple[Event, ...]:
    """The events that a reply yields at once."""
    match reply:
        case StatementReply():
            kind = "proposal" if step.task == "B" else "supplement"
            return (statement(step, kind, reply.sections, reply.responds_to, reply.options),)
        case ActionArtifact() | GuardianArtifact() | ObserverArtifact() | CriticArtifact():
            return (artifact(step, reply),)
        case PositionReply():
            return positions(step, reply)
        case CheckReply():
            return (verification(book, step, reply),)
        case ReviewReply():
            summary = NamedSection(name="summary", text=reply.summary)
            return (statement(step, "review", (summary,)), *flips(book, step, reply))
        case AssessmentReply():
            return (statement(step, "assessment", reply.sections),)
        case DriftReply():
            return (drift_check(step, reply),)
        case ResolveReply():
            return resolutions(book, step, reply)
        case RetrospectiveReply():
            modes = (
                NamedSection(name=note.mode.lower(), text=f"seen: {note.seen}\n{note.text}")
                for note in reply.failure_modes
            )
            overview = NamedSection(name="summary", text=reply.summary)
            return (statement(step, "retrospective", (overview, *modes)),)
        case ClosingReply():
            return (statement(step, "summary", reply.sections),)
        case _:
            raise AssertionError(f"{step.id}: no step of this protocol asks for {type(reply).__name__}")


def close(book: Book, group: Group, replies: Mapping[str, Reply]) -> tuple[Event, ...]:
    """Claims, concerns and decisions of a group, numbered in role order, then in the order inside each reply."""
    claims: list[Event] = []
    concerns: list[Event] = []
    decisions: list[Event] = []
    for step in sorted(group.steps, key=lambda step: role_rank(book.state, step.role)):
        reply = replies.get(step.id)
        match reply:
            case ActionArtifact() | GuardianArtifact() | ObserverArtifact() | CriticArtifact():
                source = f"A-{step.name.round}-{step.role}"
                claims += [claim(step, draft, f"{source}#{draft.section}") for draft in reply.proposed_claims]
            case ReviewReply():
                source = f"{statement_id(step)}#summary"
                claims += [claim(step, draft, source) for draft in reply.claims]
                concerns += [tension_of(step, tension) for tension in reply.tensions]
            case AssessmentReply():
                decisions += [decision(book, step, draft, "round") for draft in reply.decisions]
                concerns += [concern_of(step, draft) for draft in reply.concerns]
            case ClosingReply():
                decisions += [decision(book, step, draft, "final") for draft in reply.decisions]
            case _:
                pass
    round_ = group.steps[0].name.round
    return (
        *numbered("C", round_, claims, sum(facts.round == round_ for facts in book.state.claims.values())),
        *numbered(
            "D", round_, decisions, sum(facts.round == round_ for facts in book.state.decisions.values())
        ),
        *numbered(
            "N", round_, concerns, sum(facts.round == round_ for facts in book.state.concerns.values())
        ),
    )


def give_up(book: Book, step: Step) -> tuple[Event, ...]:
    """A lost verdict reads UNCLEAR, with the artifacts side by side as its evidence; nothing stands in for others.

    A second judgement that is lost is on record as none, so that nobody reads it as agreement.
    """
    if step.name.repeat > 1:
        return (_no_second(book, step),)
    if not step.task.startswith("E.check"):
        return ()
    check = int(step.task[-1])
    round_ = step.name.round
    present = active_roles(book.state, round_)
    wanted = NEEDS[check] or present
    refs = tuple(
        Evidence(ref=f"A-{round_}-{role}") for role in wanted if f"A-{round_}-{role}" in book.state.artifacts
    )
    verdict = Verification(
        id=f"V-{round_}-{check}",
        round=round_,
        phase="E",
        by="controller",
        check=CHECKS[check - 1],
        check_id=check,
        result="UNCLEAR" if len(refs) >= 2 else "NOT_APPLICABLE",
        evidence_refs=refs if len(refs) >= 2 else (),
        notes="The verifier gave no verdict; the artifacts stand side by side.",
    )
    return (verdict,)


def _no_second(book: Book, step: Step) -> Verification:
    check, round_ = int(step.task[-1]), step.name.round
    return Verification(
        id=rejudged_id(book.state, round_, check),
        round=round_,
        phase="E",
        by="controller",
        check=CHECKS[check - 1],
        check_id=check,
        result="NOT_APPLICABLE",
        notes="The verifier gave no second verdict.",
        repeats=f"V-{round_}-{check}",
    )


def not_applicable(round_: int, check: int, cause: str) -> Verification:
    """The record of a check that cannot be made; asked of nobody (SD-34, SD-56)."""
    return Verification(
        id=f"V-{round_}-{check}",
        round=round_,
        phase="E",
        by="controller",
        check=CHECKS[check - 1],
        check_id=check,
        result="NOT_APPLICABLE",
        notes=cause,
    )
