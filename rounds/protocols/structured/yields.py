"""Events that replies of `structured` yield: the text at once, numbered things when the group closes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ledger.events import Event
from ledger.events.claims import ModeSeen
from ledger.events.ids import event_id
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
    """Build a function that returns the text of a step, of one kind."""
    return lambda _, step, reply: (
        making.statement(
            step, kind, reply.sections, getattr(reply, "responds_to", ()), getattr(reply, "options", ())
        ),
    )


def artifact(_: Numbering, step: Step, reply: ArtifactReply) -> tuple[Event, ...]:
    """Return the artifact, which carries its claims as proposed."""
    return (making.artifact(step, reply),)


def claims(numbering: Numbering, step: Step, reply: ArtifactReply) -> Iterator[Event]:
    """Yield the claims that an artifact proposes, and the programs that come with it."""
    source = event_id("artifact", step.name.round, step.role)
    # The claims come first: a program may refer to one by its place in the reply, and needs the
    # id that it got.
    raised = [
        making.claim(numbering, step, draft, f"{source}#{draft.section}") for draft in reply.proposed_claims
    ]
    yield from raised
    yield from programs.planned(numbering, step, reply, raised)


def decided(kind: str) -> Callable[[Numbering, Step, Any], tuple[Event, ...]]:
    """Build a function that returns the text of the deciding role, with how each objection is met."""

    def statements(
        numbering: Numbering, step: Step, reply: AssessmentReply | ClosingReply
    ) -> tuple[Event, ...]:
        sections = (*reply.sections, *making.met_sections(numbering.book, reply.met))
        return (making.statement(step, kind, sections, tuple(entry.objection for entry in reply.met)),)

    return statements


def against(reply: ReviewReply | RetrospectiveReply) -> tuple[NamedSection, ...]:
    """Return what a role holds against the run's direction, if anything."""
    return (NamedSection(name=AGAINST, text=reply.against),) if reply.against else ()


def review(numbering: Numbering, step: Step, reply: ReviewReply) -> tuple[Event, ...]:
    """Return what the round showed a role, its objections, and where it changed its mind."""
    sections = (NamedSection(name="summary", text=reply.summary), *against(reply))
    return (making.statement(step, "review", sections), *making.flips(numbering.book, step, reply))


def findings(numbering: Numbering, step: Step, reply: ReviewReply) -> Iterator[Event]:
    """Yield claims and tensions of a review."""
    for draft in reply.claims:
        yield making.claim(numbering, step, draft, f"{statement_id(step)}#summary")
    for tension in reply.tensions:
        yield making.tension_of(numbering, step, tension)


def assessed(numbering: Numbering, step: Step, reply: AssessmentReply) -> Iterator[Event]:
    """Yield decisions of a round, and what stays open."""
    for draft in reply.decisions:
        yield making.decision(numbering, step, draft, "round")
    for concern in reply.concerns:
        yield making.concern_of(numbering, step, concern)


def closed(numbering: Numbering, step: Step, reply: ClosingReply) -> Iterator[Event]:
    """Yield final decisions."""
    for draft in reply.decisions:
        yield making.decision(numbering, step, draft, "final")


def retrospective(_: Numbering, step: Step, reply: RetrospectiveReply) -> tuple[Event, ...]:
    """Return the retrospective of a role, with the failure modes that it saw."""
    summary = NamedSection(name="summary", text=reply.summary)
    ticks = tuple(ModeSeen(mode=tick.mode, seen=tick.seen) for tick in reply.failure_modes)
    return (making.statement(step, "retrospective", (summary, *against(reply)), checklist=ticks),)
