"""Approvals: reasons for and against a judge's verdict about a proposal.

A verdict is a place on the run's scale: yes, yes with something to mend, no. Concerns that the judge holds genuine
support "no" and "mend". Arguments that survive support "yes" and "mend". What supports one verdict speaks against
its opposite, so a refuted concern is never a reason, and an approval always has its objection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ledger.events import Argument, Concern, Decision, Rating, Statement
from ledger.plain_text import one_line
from ledger.state.book import Book
from moot.view.judgements import latest
from moot.view.reasons import Point, argument_point, concern_point, severity
from rounds.protocols.adversarial import GENUINE_FROM, SCALES
from rounds.protocols.step_table import rule

YES, MEND, NO = 0, 1, 2
_SCALED: Final = frozenset({"adversarial", "panel"})


class Approval(NamedTuple):
    """The judge's verdict in the words of the scale, its place there, and the concerns left unaddressed."""

    verdict: str
    place: int
    unaddressed: frozenset[str]


def approval_of(book: Book) -> Approval | None:
    """Return the verdict of the judge; None in a protocol without a scale, and before the judge spoke."""
    if book.state.opening.protocol not in _SCALED:
        return None
    # A repaired or repeated judgement replaces the earlier one.
    assessment = latest(
        statement
        for statement in book.of(Statement)
        if statement.type == "assessment" and statement.by == "judge"
    )
    sections = {} if assessment is None else {section.name: section.text for section in assessment.sections}
    scale = SCALES.get(rule(book.state, "scale"), ())
    # An import or a hostile ledger may hold a verdict that is not on the scale; treat it as absent.
    if sections.get("verdict") not in scale:
        return None
    unaddressed = frozenset(identity for identity in sections.get("unaddressed", "").split(", ") if identity)
    return Approval(sections["verdict"], scale.index(sections["verdict"]), unaddressed)


def approval_reasons(book: Book, decision: Decision, approval: Approval) -> list[Point]:
    """Return the reasons for the verdict: concerns from the gravest down, then the surviving arguments."""
    concerns = [concern_point(book, concern)[1] for concern in _genuine(book, decision)]
    arguments = [point for argument in surviving(book, decision) if (point := argument_point(book, argument))]
    if approval.place == YES:
        return [point for _, point in arguments]
    return [*concerns, *(point for _, point in arguments)] if approval.place == MEND else concerns


def approval_objection(book: Book, decision: Decision, approval: Approval, cited: set[str]) -> str | None:
    """Return the strongest thing against the verdict with who said it and how the judge rates it."""
    # The best case against a rejection is what the advocate could still say for the proposal.
    if approval.place == NO:
        argument = next(iter([*surviving(book, decision), *book.of(Argument)]), None)
        return None if argument is None else f"{argument.by}: {one_line(argument.claim)} ({argument.id})"
    concerns = [
        concern for concern in book.of(Concern) if concern.type == "concern" and concern.id not in cited
    ]
    if approval.place == MEND:  # what a conditional verdict takes in is not said against it
        concerns = [concern for concern in concerns if concern.id in approval.unaddressed]
    if not concerns:
        return None
    # Prefer concerns that were never addressed; `-seq` picks the first of equals.
    gravest = max(
        concerns,
        key=lambda concern: (
            concern.id in approval.unaddressed,
            severity(book, concern),
            concern.severity or 0,
            -concern.seq,
        ),
    )
    rating = latest(
        rating for rating in book.of(Rating) if rating.of == gravest.id and rating.by == decision.by
    )
    rated = "" if rating is None else f" [judge: {rating.value} of 5]"
    return f"{gravest.by}: {one_line(gravest.text)}{rated} ({gravest.id})"


def surviving(book: Book, decision: Decision) -> Iterator[Argument]:
    """Iterate over the arguments for the proposal that the judge lets stand."""
    for cite in decision.cites:
        event = book.by_id.get(cite.id)
        if isinstance(event, Argument) and cite.relation == "supported-by":
            yield event


def _genuine(book: Book, decision: Decision) -> list[Concern]:
    """Return the concerns that the decision is based on, the gravest first."""
    # The judge marks the concerns that carried the verdict with this relation.
    cited = [book.by_id.get(cite.id) for cite in decision.cites if cite.relation == "based-on"]
    return sorted(
        (event for event in cited if isinstance(event, Concern)), key=lambda event: -severity(book, event)
    )


def is_genuine(book: Book, concern: Concern) -> bool | None:
    """Return whether the judge sided with a concern; None where no judge rated it."""
    rating = latest(rating for rating in book.of(Rating) if rating.of == concern.id and rating.by == "judge")
    # Ratings run from 1 (a stretch) to 5 (genuine), AD-5.
    return None if rating is None else int(rating.value) >= GENUINE_FROM
