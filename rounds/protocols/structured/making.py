"""Events of `structured`, each made from one part of a reply: ids from the step, words counted by moot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import msgspec

from ledger.events import (
    Artifact,
    Claim,
    Concern,
    Decision,
    DriftCheck,
    Event,
    Flip,
    Position,
    Statement,
    Verification,
)
from ledger.events.claims import ArtifactType, Finding, ModeSeen, ProposedClaim
from ledger.events.decisions import Cite, Dissent, Requirement
from ledger.events.ids import cite_type, event_id
from ledger.events.values import Bearing, Evidence, Section
from ledger.events.verifications import CHECKS, Anchor, StatusChange
from ledger.language.words import word_count
from ledger.state.anchors import strings
from ledger.state.book import Book
from ledger.state.lifecycle import STATUS_OF_BEARING
from roles.asof import status_at_opening
from roles.evidence import evidence_class, exhibits
from roles.objections import objection_in
from roles.protocol import Step
from roles.replies import (
    ArtifactReply,
    CheckReply,
    Cited,
    ClaimDraft,
    ClaimTest,
    ConcernDraft,
    DecisionDraft,
    DriftReply,
    Met,
    NamedSection,
    PositionReply,
    Resolution,
    ResolveReply,
    ReviewReply,
    Tension,
)
from rounds.protocols.step_table import Numbering, by, evidence_of, statement_id

ARTIFACT_TYPES: Final[dict[str, ArtifactType]] = {
    "action": "behavioral_trace_set",
    "guardian": "identity_invariant_check",
    "observer": "operator_walkthrough",
    "critic": "adversarial_test_case",
}


def statement(
    step: Step,
    kind: Any,
    sections: tuple[NamedSection, ...],
    responds_to: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
    checklist: tuple[ModeSeen, ...] = (),
) -> Statement:
    return Statement(
        **by(step),
        id=statement_id(step),
        type=kind,
        sections=tuple(Section(name=section.name, text=section.text) for section in sections),
        # Words are counted here and never taken from the reply: limits on length are judged by this number.
        words=sum(word_count(section.text) for section in sections),
        responds_to=responds_to,
        options=options,
        checklist=checklist,
    )


def artifact_words(body: Mapping[str, Any], findings: tuple[Finding, ...]) -> int:
    """Return the words of an artifact: every string of its body and of its findings (SD-4)."""
    texts = (*strings(dict(body)), *(finding.text for finding in findings))
    return sum(map(word_count, texts))


def artifact(step: Step, reply: ArtifactReply) -> Artifact:
    # The body goes through JSON once, so that the event holds plain values and hashes the same after
    # it is read back.
    body: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(reply.body))
    findings = tuple(Finding(section=finding.section, text=finding.text) for finding in reply.findings)
    return Artifact(
        **by(step),
        id=event_id("artifact", step.name.round, step.role),
        role=step.role,
        type=ARTIFACT_TYPES[step.role],
        body=body,
        findings=findings,
        proposed_claims=tuple(
            ProposedClaim(
                section=draft.section,
                text=draft.text,
                testable_as=draft.testable_as,
                anchor_ref=draft.anchor_ref,
                about=draft.about,
                supersedes=draft.supersedes,
            )
            for draft in reply.proposed_claims
        ),
        cites=reply.cites,
        self_assessment=reply.self_assessment,
        minutes=reply.minutes,
        words=artifact_words(body, findings),
    )


def claim(numbering: Numbering, step: Step, draft: ClaimDraft, source: str) -> Claim:
    return Claim(
        **by(step),
        id=numbering.number("claim"),
        raised_by=step.role,
        text=draft.text,
        testable_as=draft.testable_as,
        supersedes=draft.supersedes,
        raised_at_artifact=source,
        anchor_ref=draft.anchor_ref,
        about=draft.about,
        how=draft.how,
        places=draft.places,
    )


def positions(step: Step, reply: PositionReply) -> tuple[Event, ...]:
    round_ = step.name.round
    return tuple(
        Position(
            **by(step),
            id=event_id("position", round_, sealed.check_id, step.role),
            on=event_id("verification", round_, sealed.check_id),
            check_id=sealed.check_id,
            stance=sealed.stance,
            confidence=sealed.confidence,
            reason=sealed.reason,
        )
        # Positions are written in the order of the checks, whatever order the reply has them in.
        for sealed in sorted(reply.positions, key=lambda sealed: sealed.check_id)
    )


def verification(book: Book, step: Step, reply: CheckReply) -> Verification:
    check = int(step.task[-1])
    changes = tuple(
        _change(book, step, test, test.bearing, test.evidence)
        for test in reply.claims
        if test.bearing is not None
    )
    # A claim that was examined and not moved is listed too, so readers can see that the check looked at it.
    unmoved = tuple(test.claim_id for test in reply.claims if test.bearing is None)
    return Verification(
        **by(step),
        id=event_id("verification", step.name.round, check),
        check=CHECKS[check - 1],
        check_id=check,
        result=reply.result,
        evidence_refs=_rests_on(reply),
        notes=reply.notes,
        claims_affected=(*(change.claim_id for change in changes), *unmoved),
        claim_status_changes=changes,
        about=reply.about,
        confidence=reply.confidence,
    )


def _change(
    book: Book,
    step: Step,
    test: ClaimTest | Resolution,
    bearing: Bearing,
    cited: Iterable[Cited],
) -> StatusChange:
    """Return what a verdict does to a claim, and by which evidence. Its class is computed and never claimed."""
    evidence = evidence_of(cited)
    raised_by = book.state.claims[test.claim_id].raised_by
    exhibit = exhibits(book, test.claim_id, evidence)
    return StatusChange(
        claim_id=test.claim_id,
        # The status is that of the step's opening: another check of the group may have moved the claim since,
        # and replies must not depend on which of them arrives first.
        from_=status_at_opening(book.state, test.claim_id, step),
        to=STATUS_OF_BEARING[bearing],
        bearing=bearing,
        class_=evidence_class(exhibit, raised_by, bearing) if evidence else None,
        evidence=evidence,
    )


def _rests_on(reply: CheckReply) -> tuple[Evidence, ...]:
    """Return all that a verdict rests on: its own evidence, and that for each claim."""
    own = (cited for test in reply.claims for cited in test.evidence)
    # Duplicates go, in order: a reference that supports the verdict and a claim would
    # count twice against SD-38.
    return evidence_of(dict.fromkeys((*reply.evidence, *own)))


def resolutions(book: Book, step: Step, reply: ResolveReply) -> tuple[Event, ...]:
    round_ = step.name.round
    # Numbers go on after the resolutions of this round that are already on the ledger.
    taken = sum(facts.round == round_ and facts.check_id == 5 for facts in book.state.checks.values())
    # Resolutions follow the order in which claims were raised; as text, C-10-1 sorts before C-2-1.
    order = {claim: n for n, claim in enumerate(book.state.claims)}
    return tuple(
        Verification(
            **by(step),
            id=event_id("verification", round_, number),
            check="synthesis_resolution",
            check_id=5,
            result=resolution.result,
            evidence_refs=evidence_of(resolution.evidence),
            notes=resolution.notes,
            claims_affected=(resolution.claim_id,),
            claim_status_changes=(_change(book, step, resolution, resolution.bearing, resolution.evidence),),
            confidence=resolution.confidence,
        )
        for number, resolution in enumerate(
            sorted(reply.resolutions, key=lambda resolution: order[resolution.claim_id]), 5 + taken
        )
    )


def flips(book: Book, step: Step, reply: ReviewReply) -> tuple[Event, ...]:
    round_ = step.name.round
    return tuple(
        Flip(
            **by(step),
            id=event_id("flip", round_, flip.check_id, step.role),
            # The earlier stance is read from the ledger, so a role cannot restate what it believed before.
            of=event_id("position", round_, flip.check_id, step.role),
            from_=book.state.positions[event_id("position", round_, flip.check_id, step.role)].stance,
            to=flip.to,
            because=evidence_of(flip.because),
        )
        for flip in sorted(reply.flips, key=lambda flip: flip.check_id)
    )


def drift_check(step: Step, reply: DriftReply) -> DriftCheck:
    return DriftCheck(
        **by(step),
        id=event_id("drift_check", step.name.round),
        verdict=reply.verdict,
        deviation_score=reply.deviation_score,
        notes=reply.notes,
        anchors=tuple(
            Anchor(goal=goal.goal, served=goal.served, evidence=evidence_of(goal.evidence))
            for goal in reply.anchors
        ),
        addresses=reply.addresses,
    )


def tension_of(numbering: Numbering, step: Step, tension: Tension) -> Concern:
    return Concern(
        **by(step),
        id=numbering.number("concern"),
        type="tension",
        text=tension.text,
        severity=tension.severity,
        between=tension.between,
        evidence=evidence_of(tension.evidence),
    )


def concern_of(numbering: Numbering, step: Step, draft: ConcernDraft) -> Concern:
    return Concern(
        **by(step),
        id=numbering.number("concern"),
        type=draft.type,
        text=draft.text,
        severity=draft.severity,
        between=draft.between,
        evidence=evidence_of(draft.evidence),
        for_human=draft.for_human,
        deciding=draft.deciding,
    )


def decision(numbering: Numbering, step: Step, draft: DecisionDraft, kind: Any) -> Decision:
    return Decision(
        **by(step),
        id=numbering.number("decision"),
        text=draft.text,
        type=kind,
        cites=tuple(
            Cite(type=cast("Any", cite_type(cite.id)), id=cite.id, relation=cite.relation)
            for cite in draft.cites
        ),
        made_by=draft.made_by,
        round_artifact_refs=draft.round_artifact_refs,
        anchor_ref=draft.anchor_ref,
        about=draft.about,
        confidence=draft.confidence,
        falsifiers=draft.falsifiers,
        requirements=tuple(Requirement(text=need.text, by=need.by) for need in draft.requirements),
        dissent=objections(numbering.book, draft.dissent),
    )


def objections(book: Book, named: tuple[str, ...]) -> tuple[Dissent, ...]:
    """Return objections against a decision, each in the words of the role that made it."""
    dissents: list[Dissent] = []
    for identity in named:
        event = book.by_id[identity]
        words = objection_in(event) if isinstance(event, Statement) else None
        assert words is not None, f"{identity} is no objection"
        # The words are copied from the ledger: the lead names an objection and cannot reword it.
        dissents.append(Dissent(role=event.by, ref=identity, text=words))
    return tuple(dissents)


def met_sections(book: Book, met: tuple[Met, ...]) -> tuple[NamedSection, ...]:
    """Return how each objection is met, one section each."""
    return tuple(
        NamedSection(name=f"met-{book.by_id[answer.objection].by}", text=answer.how) for answer in met
    )
