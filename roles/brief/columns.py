"""Columns of a brief: the quotations of each, from the state when the group opened (FORMAT 5).

1. Quotations are ordered by (round, phase, role, n), never by seq.
2. A column that the view does not name is not shown. A brief shows only its columns, the step's own role and its task.
3. A status is shown with the verifications that caused it, and those are in `saw`.
4. Seats, models, costs, signals, alarms, other roles' charters, predicted signatures and seqs are never shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from ledger.events import (
    Amendment,
    Artifact,
    Claim,
    Concern,
    DriftCheck,
    Flip,
    Position,
    Statement,
    Verification,
)
from ledger.events.ids import ARTIFACT_MENTION, event_id, parse_reference
from ledger.state.book import once, passages
from ledger.state.state import State
from roles.brief import claims, quote, records
from roles.brief.context import BriefContext, BriefUnavailable
from roles.brief.quote import Quotations, Quoted
from roles.protocol import Column, Sight


def question(context: BriefContext, sight: Sight) -> Quotations:
    """Quote the question with goals, options and documents; or only the goals.

    Raises `BriefUnavailable` when the blob of a document is missing.
    """
    if sight.extent == "goals":
        return (quote.goals(context.opened),)
    return once(context.of_run, "question", lambda: _question(context))


def _question(context: BriefContext) -> Quotations:
    quotations = [quote.question(context.opened)]
    for document in context.opened.context:
        content = context.book.blobs.read(document.sha256)
        if content is None:
            raise BriefUnavailable(f"the context document {document.id} is not among the blobs")
        text = quote.document(document.id, document.name, content)
        quotations.append(Quoted(document.id, text, (context.opened.seq,)))
    return tuple(quotations)


def decisions(context: BriefContext, sight: Sight) -> Quotations:
    """Quote the decisions in force."""
    assert sight.extent == "all", sight
    return tuple(context.quoted(event) for event in context.decisions_in_force())


def plan(context: BriefContext, sight: Sight) -> Quotations:
    """Quote lead, focus and absent role of the round; or only the absent role."""
    opened = context.state.rounds[context.round]
    return (quote.plan(opened, absent_only=sight.extent == "absent"),)


def _statements(kind: str, context: BriefContext, _sight: Sight) -> Quotations:
    """Quote the round's statements of one type: the lead's proposal, the supplements of the other roles."""
    events = [event for event in context.of(Statement, context.round) if event.type == kind]
    return _all(context, events)


def _all(context: BriefContext, events: Collection[Any]) -> Quotations:
    return tuple(context.quoted(event) for event in context.ordered(events))


def artifacts(context: BriefContext, sight: Sight) -> Quotations:
    """Quote the round's artifacts, those of some roles, or those that the other columns cite."""
    match sight.extent:
        case "all":
            events = context.of(Artifact, context.round)
        case "listed":
            events = tuple(
                event for event in context.of(Artifact, context.round) if event.role in sight.names
            )
        case "cited":
            wanted = _cited_artifacts(context)
            events = tuple(event for event in context.of(Artifact) if event.id in wanted)
        case _:
            raise AssertionError(f"artifacts have no extent {sight.extent}")
    return tuple(context.quoted(event) for event in context.turned(context.ordered(events)))


def _cited_artifacts(context: BriefContext) -> set[str]:
    """Return the ids of artifacts that decisions in force name, or that pending claims come from.

    The second set includes artifacts that cite a pending claim or serve as evidence in its checks.
    """
    if Column.DECISIONS in context.view:
        refs = [ref for event in context.decisions_in_force() for ref in event.round_artifact_refs]
        return {parse_reference(ref).id for ref in refs}
    pending = context.pending_claims()
    ids = {identity for claim in pending for identity in _sources(claim)}
    for check in context.checks_of_pending_claims():
        ids |= {parse_reference(evidence.ref).id for evidence in check.evidence_refs}
    named = {claim.id for claim in pending}
    for event in context.of(Artifact):
        if named & {parse_reference(ref).id for ref in event.cites}:
            ids.add(event.id)
    return ids


_ARTIFACT_ID: Final = re.compile(rf"\b{ARTIFACT_MENTION}")


def _sources(claim: Claim) -> set[str]:
    """Return the artifacts that a claim comes from: those it was raised at or names, else its author's."""
    raised_at = parse_reference(claim.raised_at_artifact or "").id
    named = set(_ARTIFACT_ID.findall(f"{raised_at} {claim.text} {claim.testable_as}"))
    # A claim may name no artifact; then its author's own of that round is the likely source.
    return named or {event_id("artifact", claim.round, claim.raised_by)}


def places(context: BriefContext, sight: Sight) -> Quotations:
    """Quote the passages that claims under test name, unless a shown artifact contains them."""
    assert sight.extent == "named", sight
    whole = {artifact.name for artifact in artifacts(context, context.view[Column.ARTIFACTS])}
    names = claims.shown_names(context)
    named = context.ordered([event for event in context.of(Claim) if event.id in names])
    # Several claims may name the same passage; it is quoted once, at its first mention.
    refs = dict.fromkeys(ref for event in named for ref in event.places)
    return tuple(
        place
        for ref in refs
        if parse_reference(ref).id not in whole and (place := _place(context, ref)) is not None
    )


def _place(context: BriefContext, ref: str) -> Quoted | None:
    """Quote the text at a reference; None for documents and claims, which are shown whole or not at all."""
    reference = parse_reference(ref)
    event = context.book.by_id.get(reference.id)
    # A reference comes from a claim's words, so it may point to nothing.
    if event is None or isinstance(event, Claim):
        return None
    if reference.section is None:
        return context.quoted(event) if event.kind in quote.BY_ITSELF else None
    texts = passages(reference, context.book.by_id, context.opened, context.book.blobs)
    return None if texts is None else quote.place(event, ref, texts)


def unanswered(context: BriefContext, sight: Sight) -> Quotations:
    """Quote the last round's drift check, and its questions and concerns that are still unanswered."""
    assert sight.extent == "all", sight
    last = context.round - 1
    resolved = context.state.resolved
    concerns = [
        event
        for event in context.of(Concern, last)
        if event.type in ("question", "concern") and event.id not in resolved
    ]
    return (*_all(context, context.of(DriftCheck, last)), *_all(context, concerns))


def positions(context: BriefContext, sight: Sight) -> Quotations:
    """Quote the positions of all roles, check by check."""
    assert sight.extent == "all", sight
    events = context.ordered(context.of(Position, context.round))
    # The sort is stable, so positions on one check keep the order of the roles.
    events.sort(key=lambda event: event.check_id or 0)
    return tuple(context.quoted(event) for event in events)


def verdicts(context: BriefContext, sight: Sight) -> Quotations:
    """Quote the round's verdicts, those of some checks, or those that the other columns cite."""
    match sight.extent:
        case "all":
            events = context.of(Verification, context.round)
        case "listed":
            checks = context.of(Verification, context.round)
            events = tuple(event for event in checks if str(event.check_id) in sight.names)
        case "cited":
            events = _cited_verdicts(context)
        case _:
            raise AssertionError(f"verdicts have no extent {sight.extent}")
    return _all(context, events)


def _cited_verdicts(context: BriefContext) -> tuple[Verification, ...]:
    if Column.DECISIONS not in context.view:
        return tuple(context.checks_of_pending_claims())
    wanted = context.cited_by_decisions()
    for tension in context.open_tensions():
        # A tension can only be judged with the verdicts it is about.
        wanted |= {*tension.between, *(parse_reference(entry.ref).id for entry in tension.evidence)}
    return tuple(event for event in context.of(Verification) if event.id in wanted)


def flips(context: BriefContext, sight: Sight) -> Quotations:
    """Quote changed positions and tensions of the round, or open tensions.

    The extent of `sight` also asks for objections with the former, for retrospectives with the latter.
    """
    unresolved = context.open_tensions()
    match sight.extent:
        case "all_and_objections":
            tensions = [event for event in context.of(Concern, context.round) if event.type == "tension"]
            reviews = [event for event in context.of(Statement, context.round) if event.type == "review"]
            objections = (quote.objection(event) for event in context.ordered(reviews))
            changed = _all(context, context.of(Flip, context.round))
            return (*changed, *_all(context, tensions), *(each for each in objections if each is not None))
        case "last_tensions":
            return _all(context, [event for event in unresolved if event.round == context.round - 1])
        case "open_tensions":
            return _all(context, unresolved)
        case "reviews_and_open_tensions":
            return (*_statements("retrospective", context, sight), *_all(context, unresolved))
        case _:
            raise AssertionError(f"flips have no extent {sight.extent}")


def amendments(context: BriefContext, sight: Sight) -> Quotations:
    """Quote the fixed wording of active amendments; one aimed at a role is shown only to that role."""
    assert sight.extent == "all", sight
    quotations: list[Quoted] = []
    for event, path, code in active_amendments(context.state):
        # The last part of a path is a role's id when the amendment is aimed at a role.
        target = re.split(r"[./]", path)[-1]
        others = target in context.protocol.role_ids() and target != context.step.role
        if not others and f"amendments/{code}" in context.prompt_set["templates"]:
            text = context.rendered(f"amendments/{code}", {}).rstrip("\n")
            quotations.append(Quoted(code, text, (event.seq,)))
    return tuple(quotations)


def active_amendments(state: State) -> list[tuple[Amendment, str, str]]:
    """Return the last amendment of each path as (event, path, code), unless the alarm that caused it is closed."""
    raised = {alarm.seq for alarm in state.open_alarms()}
    latest: dict[str, tuple[Amendment, object]] = {}
    for event in state.amendments:
        # A later amendment of the same path replaces the earlier one.
        for change in event.change:
            latest[change.path] = (event, change.to)
    return [
        (event, path, code)
        for path, (event, code) in sorted(latest.items())
        if isinstance(code, str) and (not isinstance(event.cause, int) or event.cause in raised)
    ]


class Quoting(NamedTuple):
    """Quoting function of a column, and its inputs beside the group's opening and the column's own sight."""

    quotations: Callable[[BriefContext, Sight], Quotations]
    beside: tuple[Column, ...] = ()
    """Other columns whose sights it reads."""
    of_step: bool = False
    """Whether siblings see different quotations."""


def written_by_protocol(column: Column, context: BriefContext, _sight: Sight) -> Quotations:
    """Return the quotations that the protocol itself writes."""
    return tuple(Quoted(*row) for row in context.protocol.tells(context.book, context.step, column))


C = Column
COLUMNS: Final[Mapping[Column, Quoting]] = {
    C.QUESTION: Quoting(question),
    C.DECISIONS: Quoting(decisions),
    C.OLD_CLAIMS: Quoting(claims.earlier, beside=(C.VERDICTS,)),
    C.PLAN: Quoting(plan),
    C.PROPOSAL: Quoting(partial(_statements, "proposal")),
    C.SUPPLEMENTS: Quoting(partial(_statements, "supplement")),
    C.ARTIFACTS: Quoting(artifacts, beside=(C.DECISIONS,)),
    C.CLAIMS: Quoting(claims.of_round),
    C.PLACES: Quoting(places, beside=(C.ARTIFACTS, C.OLD_CLAIMS, C.CLAIMS, C.DECISIONS)),
    C.UNANSWERED: Quoting(unanswered),
    C.POSITIONS: Quoting(positions),
    C.VERDICTS: Quoting(verdicts, beside=(C.DECISIONS,)),
    C.MOVED: Quoting(claims.moved, beside=(C.CLAIMS, C.OLD_CLAIMS, C.VERDICTS)),
    C.LATE: Quoting(claims.raised_late, beside=(C.CLAIMS,)),
    C.FLIPS: Quoting(flips),
    C.AMENDMENTS: Quoting(amendments, of_step=True),
    C.RECORD: Quoting(records.quotations, of_step=True),
    C.BEFORE: Quoting(partial(written_by_protocol, C.BEFORE)),
    C.TOLD: Quoting(partial(written_by_protocol, C.TOLD), of_step=True),
}
"""Column → its quoting function."""
UNNAMED: Final = Sight("all")
"""Sight of a column that no view names, because it follows from the shown claims."""


class ColumnShown(NamedTuple):
    """Content of a column: quotations, the seqs of their events, and the cache key of everything they depend on."""

    quotations: Quotations
    seqs: frozenset[int]
    key: tuple[object, ...]


def shown_in(context: BriefContext, name: Column) -> ColumnShown:
    """Return the content of a column, computed once per group for all siblings that see the same."""
    key = _key(context, name)
    return once(context.of_group, key, lambda: _column_shown(context, name, key))


def _key(context: BriefContext, name: Column) -> tuple[object, ...]:
    """Return the cache key of a column: everything it depends on beside the group's opening."""
    quoting, view = COLUMNS[name], context.view
    sights = [view.get(column) for column in quoting.beside]
    return (
        name,
        view.get(name, UNNAMED),
        context.reader,
        # The drawer of the group already depends on the repetition, so the key does not repeat it.
        context.step.id if quoting.of_step else "",
        *sights,
    )


def _column_shown(context: BriefContext, name: Column, key: tuple[object, ...]) -> ColumnShown:
    quotations = COLUMNS[name].quotations(context, context.view.get(name, UNNAMED))
    return ColumnShown(quotations, frozenset(seq for each in quotations for seq in each.seqs), key)
