"""`adversarial`: an advocate and a challenger with the same material, side by side, then a judge (AD-1 … AD-9, AD-31).

Laws
1. Advocate and challenger work side by side and see nothing of each other; the judge sees both.
2. The challenger gives exactly five concerns, ranked, each with the words it is about, a risk and a fix, and says what
   works; softened concerns are refused.
3. The judge scores each concern from 1 (a stretch) to 5 (genuine); from 3 on it sides with the challenger.
   A stretch is settled, unless the judge leaves it unaddressed.
4. One debater lost: the judge works from the other, and adds concerns where there are none; both lost: alone. No judge:
   the cases stand side by side, and a person decides (AD-8).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events import Argument, Concern, Decision, Event, Rating
from ledger.events.decisions import Zones
from ledger.events.envelope import Five
from ledger.state.book import Book
from roles.protocol import Loss, Pick, Protocol, QuestionKind, RoleDefinition, Step
from roles.replies import Evidence, Falsifiers, Part, Requirements, Sentence, Text, Word, titled
from rounds.protocols.citations import Quotable, cites, exactly_one, named_once, out_of_order, repeated
from rounds.protocols.debate import ArgumentDraft
from rounds.protocols.step_table import (
    LOST_VERDICT,
    Numbering,
    StepRow,
    StepTable,
    asks,
    each,
    rule,
    says,
    side_by_side,
    statement,
)

SCALES: Final[Mapping[str, tuple[str, ...]]] = {
    "approve_reject": ("approve", "approve with conditions", "reject"),
    "green_amber_red": ("GREEN", "AMBER", "RED"),
    "ready_fixes_rethink": ("ready", "targeted fixes", "rethink"),
}
"""Verdicts of each scale, the best first."""


CONCERNS: Final = 5
GENUINE_FROM: Final = 3
"""Lowest score with which a concern counts for the challenger."""
_SOFTENERS: Final = re.compile(
    r"\b(minor nitpick|nitpick|probably fine,? but|just a thought|small thing|not a big deal|may be nothing)\b",
    re.I,
)


class Blocker(Part, frozen=True, kw_only=True):
    """Something that really stands in the way, and how it can be addressed (AD-3)."""

    text: Text
    fix: Text


@titled("CaseReply")
class AdvocateReply(Part, frozen=True, kw_only=True):
    """The case for it, with its true blockers."""

    summary: Text
    arguments: Annotated[tuple[ArgumentDraft, ...], Meta(min_length=1, max_length=7)]
    blockers: Annotated[tuple[Blocker, ...], Meta(max_length=4)]


@titled("ConcernRow")
class ZonedConcern(Part, frozen=True, kw_only=True):
    """One concern: what, the risk in operation, the fix, and the words it is about (AD-4)."""

    text: Text
    risk: Text
    fix: Text
    severity: Five
    evidence: Evidence


@titled("AttackReply")
class ChallengerReply(Part, frozen=True, kw_only=True):
    """Exactly five concerns, the heaviest first, and what works."""

    works: Text
    concerns: Annotated[tuple[ZonedConcern, ...], Meta(min_length=CONCERNS, max_length=CONCERNS)]


class ConcernScore(Part, frozen=True, kw_only=True):
    """How genuine a concern is."""

    of: Word
    score: Five
    reason: Sentence


@titled("VerdictReply")
class ApprovalReply(Part, frozen=True, kw_only=True):
    """The judge's view of both, what would show it wrong, and what it asks for."""

    scores: Annotated[tuple[ConcernScore, ...], Meta(max_length=12)]
    surviving: Annotated[tuple[Word, ...], Meta(max_length=7, description="arguments that survive, R-1-n")]
    unaddressed: Annotated[tuple[Word, ...], Meta(max_length=12, description="concerns nobody met, N-1-n")]
    added: Annotated[tuple[ZonedConcern, ...], Meta(max_length=CONCERNS)]
    pulled_punches: Literal["yes", "no", "in part"]
    pulled_punches_why: Sentence
    agreement: Annotated[tuple[Sentence, ...], Meta(max_length=6)]
    contested: Annotated[tuple[Sentence, ...], Meta(max_length=6)]
    narratives: Annotated[tuple[Sentence, ...], Meta(min_length=2, max_length=3)]
    verdict: Word
    decision: Text
    confidence: Five
    falsifiers: Falsifiers
    requirements: Requirements


def _case(numbering: Numbering, step: Step, reply: AdvocateReply) -> Iterator[Event]:
    yield from (
        numbering.event(Argument, step, draft, label=f"FOR-{n}", side="FOR")
        for n, draft in enumerate(reply.arguments, 1)
    )
    yield from (numbering.event(Concern, step, blocker, type="concern") for blocker in reply.blockers)


def softened(rows: tuple[ZonedConcern, ...], where: str) -> Iterator[str]:
    """Yield words that take a concern back while it is made (AD-4)."""
    yield from (
        f"{where}[{n}]: {match[0]!r} softens the concern; say it or leave it out"
        for n, row in enumerate(rows)
        if (match := _SOFTENERS.search(f"{row.text} {row.risk}"))
    )


def _wrong_attack(known: Quotable, reply: ChallengerReply) -> Iterator[str]:
    yield from repeated((row.text for row in reply.concerns), "concerns")
    yield from softened(reply.concerns, "concerns")
    # The order is the ranking (AD-4), so a heavier concern after a lighter one contradicts itself.
    yield from out_of_order([row.severity for row in reply.concerns], "concerns")
    yield from (
        f"concerns[{n}].evidence: the words that it is about are wanted"
        for n, row in enumerate(reply.concerns)
        # Without a document there are no words to quote; with one, a concern must name its place (AD-4).
        if known.opened.context and not row.evidence
    )


def _wrong_verdict(known: Quotable, reply: ApprovalReply) -> Iterator[str]:
    concerns, arguments = known.ids_of(Concern), known.ids_of(Argument)
    yield from exactly_one((row.of for row in reply.scores), concerns, "scores", "concern")
    yield from named_once(reply.surviving, arguments, "surviving")
    yield from named_once(reply.unaddressed, concerns, "unaddressed")
    # New concerns would be the judge's own case, and no side could answer them anymore.
    if concerns and arguments and reply.added:
        yield "added: both sides were heard; add nothing"
    # Without a challenger the judge takes over its work (AD-8), or an unchallenged case would pass.
    if not concerns and not reply.added:
        yield "added: there is no challenger's view; at least one concern of your own is wanted"
    yield from softened(reply.added, "added")
    yield from out_of_order([row.severity for row in reply.added], "added")
    yield from off_scale(known, reply.verdict)
    # The verdict between yes and no: it may go ahead if something is met.
    if not reply.requirements and reply.verdict == SCALES[rule(known.state, "scale")][1]:
        yield f"requirements: {reply.verdict!r} asks for at least one"


def off_scale(known: Quotable, verdict: str) -> Iterator[str]:
    """Yield a problem for a verdict that the run's scale does not have."""
    verdicts = SCALES[rule(known.state, "scale")]
    if verdict not in verdicts:
        yield f"verdict: {verdict!r} is none of {', '.join(verdicts)}"


def _verdict(numbering: Numbering, step: Step, reply: ApprovalReply) -> Iterator[Event]:
    yield from each("scores", Rating, "of", scale="severity_1_5", value=lambda _, row: row.score)(
        numbering, step, reply
    )
    added = list(each("added", Concern, type="concern", ranked=True)(numbering, step, reply))
    yield from added
    # A concern below the mark is cited, so a reader sees that the judge looked at it; it is settled where it was met.
    below = {row.of: "builds-on" if row.of in reply.unaddressed else "resolves" for row in reply.scores}
    scored = [(row.of, "based-on" if row.score >= GENUINE_FROM else below[row.of]) for row in reply.scores]
    yield numbering.decision(
        step,
        reply,
        (
            *cites("concern", [*scored, *((concern.id, "based-on") for concern in added)]),
            *cites("argument", [(identity, "supported-by") for identity in reply.surviving]),
        ),
        text=f"{reply.verdict}: {reply.decision}",
        zones=Zones(agreement=reply.agreement, contested=reply.contested),
    )


def _sides(book: Book) -> Counter[str]:
    """Return whose view of a challenged point the judge took: it is genuine, or it is not."""
    challenged = {event.id for event in book.of(Concern) if event.by == "challenger"}
    return Counter(
        "challenger" if isinstance(event.value, int) and event.value >= GENUINE_FROM else "advocate"
        for event in book.of(Rating)
        if event.of in challenged
    )


def _disputed(book: Book) -> int:
    """Return the points that the judge found really in dispute (AD-5): concerns are always five."""
    return sum(len(event.zones.contested) for event in book.of(Decision) if event.zones)


STEPS: Final = StepTable(
    (
        StepRow(
            "case",
            asks("advocate"),
            AdvocateReply,
            says("case", "summary"),
            _case,
            lambda _, reply: repeated((draft.claim for draft in reply.arguments), "arguments"),
            Loss("survivor_only", "there is no case for what is proposed"),
        ),
        StepRow(
            "attack",
            asks("challenger"),
            ChallengerReply,
            says("review", "works"),
            each("concerns", Concern, type="concern", ranked=True),
            _wrong_attack,
            Loss("survivor_only", "there are no concerns of a challenger"),
            group="case",
        ),
        StepRow(
            "verdict",
            asks("judge"),
            ApprovalReply,
            lambda _, step, reply: statement(
                step,
                "assessment",
                {
                    "verdict": reply.verdict,
                    "decision": reply.decision,
                    "punches": f"pulled punches: {reply.pulled_punches}. {reply.pulled_punches_why}",
                    "unaddressed": ", ".join(reply.unaddressed),
                },
            ),
            _verdict,
            _wrong_verdict,
            LOST_VERDICT,
            sees=(Pick("case"), Pick("attack")),
            stand_in=side_by_side,
        ),
    )
)

ADVERSARIAL: Final[Protocol] = STEPS.protocol(
    "adversarial",
    "an advocate and a challenger side by side, then a judge: zones, narratives, a verdict",
    (
        RoleDefinition("advocate", "What speaks for it?", "charters/advocate", "Advocate"),
        RoleDefinition("challenger", "What breaks in operation?", "charters/challenger", "Challenger"),
        RoleDefinition("judge", "What survives?", "charters/judge", "Judge"),
    ),
    variants={"scale": tuple(SCALES)},
    questions=(QuestionKind("proposal", "a proposal to approve or reject"),),
    fits="a proposal that is about to be approved",
    calls="3",
    sides=_sides,
    disputed=_disputed,
    rivals=("challenger", "advocate"),
)
