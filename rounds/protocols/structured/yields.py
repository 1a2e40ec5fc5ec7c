"""What replies of `structured` yield: the text at once, and what is numbered when the group closes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ledger.events import Event
from ledger.events.claims import ModeSeen
from roles.objections import AGAINST
from roles.protocol import Step
from roles.replies import (
    ArtifactReply,
    AssessmentReply,
    ClosingReply,
    NamedSection,
    RetrospectiveReply,
    ReviewReply,
)
from rounds.protocols.step_table import Numbering, statement_id
from rounds.protocols.structured import making, programs


def statement(kind: str) -> Callable[[Numbering, Step, Any], tuple[Event, ...]]:
    """The text of a step, of one kind."""
    return lambda _, step, reply: (
        making.statement(
            step, kind, reply.sections, getattr(reply, "responds_to", ()), getattr(reply, "options", ())
        ),
    )


def artifact(_: Numbering, step: Step, reply: ArtifactReply) -> tuple[Event, ...]:
    """The artifact, which carries its claims as proposed."""
    return (making.artifact(step, reply),)


def claims(numbering: Numbering, step: Step, reply: ArtifactReply) -> Iterator[Event]:
    """The claims that an artifact proposes, and the programs that come with it."""
    source = f"A-{step.name.round}-{step.role}"
    raised = [
        making.claim(numbering, step, draft, f"{source}#{draft.section}") for draft in reply.proposed_claims
    ]
    yield from raised
    yield from programs.planned(numbering, step, reply, raised)


def decided(kind: str) -> Callable[[Numbering, Step, Any], tuple[Event, ...]]:
    """The text of who decides; with it how each objection is met."""

    def statements(
        numbering: Numbering, step: Step, reply: AssessmentReply | ClosingReply
    ) -> tuple[Event, ...]:
        sections = (*reply.sections, *making.met_sections(numbering.book, reply.met))
        return (making.statement(step, kind, sections, tuple(one.objection for one in reply.met)),)

    return statements


def against(reply: ReviewReply | RetrospectiveReply) -> tuple[NamedSection, ...]:
    """What a role holds against where the run is heading, where it says so."""
    return (NamedSection(name=AGAINST, text=reply.against),) if reply.against else ()


def review(numbering: Numbering, step: Step, reply: ReviewReply) -> tuple[Event, ...]:
    """What the round showed a role, what it holds against it, and where it changed its mind."""
    sections = (NamedSection(name="summary", text=reply.summary), *against(reply))
    return (making.statement(step, "review", sections), *making.flips(numbering.book, step, reply))


def findings(numbering: Numbering, step: Step, reply: ReviewReply) -> Iterator[Event]:
    """Claims and tensions of a review."""
    for draft in reply.claims:
        yield making.claim(numbering, step, draft, f"{statement_id(step)}#summary")
    for tension in reply.tensions:
        yield making.tension_of(numbering, step, tension)


def assessed(numbering: Numbering, step: Step, reply: AssessmentReply) -> Iterator[Event]:
    """Decisions of a round, and what stays open."""
    for draft in reply.decisions:
        yield making.decision(numbering, step, draft, "round")
    for concern in reply.concerns:
        yield making.concern_of(numbering, step, concern)


def closed(numbering: Numbering, step: Step, reply: ClosingReply) -> Iterator[Event]:
    """Final decisions."""
    for draft in reply.decisions:
        yield making.decision(numbering, step, draft, "final")


def retrospective(_: Numbering, step: Step, reply: RetrospectiveReply) -> tuple[Event, ...]:
    """The run looked back at, with the failure modes that the role saw."""
    summary = NamedSection(name="summary", text=reply.summary)
    ticks = tuple(ModeSeen(mode=tick.mode, seen=tick.seen) for tick in reply.failure_modes)
    return (making.statement(step, "retrospective", (summary, *against(reply)), checklist=ticks),)
