"""`panel`: reviewers with a lens each, a round of cross-reference, and a judge of their own (AD-31, AD-32).

Laws
1. Reviewers work side by side through their lens: three to five findings each, with a severity.
2. Then each sees the others' findings and marks those that touch its own field too: such a finding is cross-cutting.
3. The judge takes no part before; cross-cutting findings come first. One reviewer lost: the panel goes on without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events import Concern, Event, Rating, Statement
from ledger.events.decisions import Requirement
from ledger.events.envelope import Five
from ledger.state.book import Book
from roles.protocol import Loss, Pick, Protocol, RoleDefinition, Step
from roles.replies import Evidence, Falsifiers, Part, Sentence, Text, Word, titled
from rounds.protocols.adversarial import off_scale
from rounds.protocols.citations import (
    Quotable,
    cites,
    exactly_one,
    named_once,
    one_for_each,
    out_of_order,
    repeated,
)
from rounds.protocols.step_table import (
    LOST_VERDICT,
    Numbering,
    StepRow,
    StepTable,
    after,
    as_many,
    asks,
    each,
    says,
    side_by_side,
    statement,
)

REVIEWERS: Final = tuple(f"reviewer_{n}" for n in range(1, 6))
SEVERITIES: Final = {"Critical": 5, "High": 4, "Medium": 3, "Low": 2}
"""Severities as numbers, 1 to 5."""
_LENSES: Final = (
    ("Security", "What can be abused, leaked or forged?"),
    ("Architecture", "Does the design carry what it has to carry, now and in two years?"),
    ("Operations", "Can it be run, watched, repaired and rolled back at night?"),
    ("Users and support", "Can the people who have to use it get their work done?"),
    ("Cost and effort", "What does it take to build and keep, and is it worth that?"),
)


class FindingRow(Part, frozen=True, kw_only=True):
    """One finding."""

    text: Text
    severity: Literal["Critical", "High", "Medium", "Low"]
    fix: Text
    evidence: Evidence


class FindingsReply(Part, frozen=True, kw_only=True):
    """Three to five findings through one lens, the heaviest first."""

    overview: Text
    findings: Annotated[tuple[FindingRow, ...], Meta(min_length=3, max_length=5)]


@titled("Mark")
class CrossMark(Part, frozen=True, kw_only=True):
    """Whether another's finding touches one's own field, and how heavily."""

    of: Word
    cross_cutting: bool
    severity: Five
    reason: Sentence


class CrossReply(Part, frozen=True, kw_only=True):
    """One mark for each finding of the others."""

    marks: Annotated[tuple[CrossMark, ...], Meta(min_length=1, max_length=20)]


class Quality(Part, frozen=True, kw_only=True):
    """How good one review is."""

    of: Annotated[Word, Meta(description="the reviewer's overview, S-1-findings-reviewer_n")]
    value: Five
    reason: Sentence


class PanelVerdict(Part, frozen=True, kw_only=True):
    """The judge's order, verdict and recommendations, and what would show the verdict to be wrong."""

    quality: Annotated[tuple[Quality, ...], Meta(min_length=1, max_length=5)]
    blockers: Annotated[tuple[Word, ...], Meta(min_length=1, max_length=3, description="findings, N-1-n")]
    recommendations: Annotated[tuple[Sentence, ...], Meta(min_length=1, max_length=3)]
    verdict: Word
    decision: Text
    confidence: Five
    falsifiers: Falsifiers


def _wrong_findings(_: Quotable, reply: FindingsReply) -> Iterator[str]:
    yield from repeated((row.text for row in reply.findings), "findings")
    # The order is the ranking, so a heavier finding after a lighter one contradicts itself.
    yield from out_of_order([SEVERITIES[row.severity] for row in reply.findings], "findings")


def _wrong_verdict(known: Quotable, reply: PanelVerdict) -> Iterator[str]:
    yield from one_for_each("quality", "of", Statement, "review")(known, reply)
    yield from named_once(reply.blockers, known.ids_of(Concern), "blockers")
    yield from off_scale(known, reply.verdict)


def _verdict(numbering: Numbering, step: Step, reply: PanelVerdict) -> Iterator[Event]:
    yield from (
        numbering.event(Rating, step, row, scale="criterion_1_5", criterion="quality of the review")
        for row in sorted(reply.quality, key=lambda row: row.of)
    )
    # Findings that block nothing are cited too: a decision that hides them would look better than it is.
    others = [concern.id for concern in by_weight(numbering) if concern.id not in reply.blockers]
    relations = [
        *((identity, "based-on") for identity in reply.blockers),
        *((identity, "builds-on") for identity in others),
    ]
    yield numbering.decision(
        step,
        reply,
        cites("concern", relations),
        text=f"{reply.verdict}: {reply.decision}",
        requirements=tuple(Requirement(text=text) for text in reply.recommendations),
    )


def by_weight(numbering: Numbering) -> list[Concern]:
    """Return the findings: cross-cutting ones first, each part by severity, then by number (AD-32)."""
    shared = {event.of for event in numbering.book.of(Rating) if event.criterion == "cross-cutting"}
    # The source also raises the severity of a cross-cutting finding. Here its place says so: a High raised by one
    # would be level with a Critical, which cannot rise.
    return sorted(
        numbering.book.of(Concern), key=lambda concern: (concern.id not in shared, -(concern.severity or 0))
    )


_FINDINGS: Final = ("statement", "concern")


def _sides(book: Book) -> Counter[str]:
    """Return whose findings touched another field, too."""
    return Counter(book.by_id[event.of].by for event in book.of(Rating) if event.criterion == "cross-cutting")


STEPS: Final = StepTable(
    (
        StepRow(
            "findings",
            asks(*REVIEWERS),
            FindingsReply,
            says("review", "overview"),
            each(
                "findings",
                Concern,
                type="concern",
                severity=lambda _, row: SEVERITIES[row.severity],
                ranked=True,
            ),
            _wrong_findings,
            Loss(
                "skipped", "the panel has no findings of this field; without any field, it gives no verdict"
            ),
        ),
        StepRow(
            "crossing",
            asks(*REVIEWERS),
            CrossReply,
            lambda _, step, reply: statement(
                step,
                "supplement",
                {"marks": "\n\n".join(f"{mark.of}: {mark.reason}" for mark in reply.marks)},
            ),
            each(
                "marks",
                Rating,
                "of",
                scale="severity_1_5",
                value=lambda _, mark: mark.severity,
                criterion=lambda _, mark: "cross-cutting" if mark.cross_cutting else "of another field",
            ),
            lambda known, reply: exactly_one(
                (mark.of for mark in reply.marks),
                known.ids_of(Concern, but_by=known.step.role),
                "marks",
                "finding of the others",
            ),
            Loss("skipped", "what this reviewer would mark as its own too is not known"),
            sees=(Pick("findings", _FINDINGS, whose="others"),),
            # With one reviewer there are no findings of others to mark.
            when=after("findings", 2),
        ),
        StepRow(
            "verdict",
            asks("judge"),
            PanelVerdict,
            says("assessment", "verdict", "decision"),
            _verdict,
            _wrong_verdict,
            LOST_VERDICT,
            sees=(Pick("findings", _FINDINGS), Pick("crossing", kinds=("rating",))),
            when=after("findings"),
            stand_in=side_by_side,
        ),
    )
)


PANEL: Final[Protocol] = STEPS.protocol(
    "panel",
    "reviewers with a lens each, a round of cross-reference, and a judge of their own",
    (
        *(
            RoleDefinition(role, question, "charters/reviewer", title)
            for role, (title, question) in zip(REVIEWERS, _LENSES, strict=True)
        ),
        RoleDefinition("judge", "What do the reviews come to?", "charters/judge", "Judge"),
    ),
    variants={
        "reviewers": ("3", "2", "4", "5"),
        "scale": ("ready_fixes_rethink", "approve_reject", "green_amber_red"),
    },
    cast=as_many(REVIEWERS, "reviewers", "judge"),
    fits="a document that several fields have to sign",
    calls="3 reviewers: 7",
    sides=_sides,
)
