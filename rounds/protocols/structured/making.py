"""Events of `structured`, made from its replies: the text at once, numbered things when the group closes.

At the end stand the controller's own verdicts: on checks that cannot be made (SD-34, SD-56) and on lost ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, cast

import msgspec

from ledger.events import (
    Artifact,
    Belief,
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
from ledger.events.claims import ArtifactType, Finding, ModeSeen, ProposedClaim, StatementType
from ledger.events.decisions import Cite, Dissent
from ledger.events.envelope import Bearing, Evidence
from ledger.events.ids import cite_type, event_id
from ledger.events.verifications import CHECK_NEEDS, CHECKS, StatusChange
from ledger.plain_json import converted
from ledger.state.book import Book, words_of_artifact
from ledger.state.lifecycle import STATUS_OF_BEARING
from ledger.state.state import State
from roles.asof import status_at_opening
from roles.evidence import evidence_class, exhibits
from roles.objections import AGAINST, objection_in
from roles.protocol import Step
from roles.replies import (
    ArtifactReply,
    AssessmentReply,
    CheckReply,
    Cited,
    ClaimDraft,
    ClaimTest,
    ClosingReply,
    DecisionDraft,
    DriftReply,
    NamedSection,
    PositionReply,
    Resolution,
    ResolveReply,
    RetrospectiveReply,
    ReviewReply,
)
from rounds.protocols.citations import as_points, evidence_of
from rounds.protocols.schedule import active_roles, applicable_checks, lost_artifacts, plan_row
from rounds.protocols.step_table import Numbering, by, statement, statement_id
from rounds.protocols.structured import programs
from rounds.protocols.structured.replies import AnswerNow

ARTIFACT_TYPES: Final[dict[str, ArtifactType]] = {
    "action": "behavioral_trace_set",
    "guardian": "identity_invariant_check",
    "observer": "operator_walkthrough",
    "critic": "adversarial_test_case",
}

# ---------------------------------------------------------------- B, C, D


def _texts(sections: Iterable[NamedSection]) -> dict[str, str]:
    return {section.name: section.text for section in sections}


def text(kind: StatementType) -> Callable[[Numbering, Step, Any], tuple[Event, ...]]:
    """Build a function that returns the text of a step, of one kind."""
    return lambda _, step, reply: statement(
        step, kind, _texts(reply.sections), responds_to=reply.responds_to, options=reply.options
    )


def artifact(step: Step, reply: ArtifactReply) -> Artifact:
    """Return the artifact, which carries its claims as proposed."""
    # The body goes through JSON once, so that the event holds plain values and hashes the same after
    # it is read back.
    body: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(reply.body))
    findings = converted(reply.findings, tuple[Finding, ...], from_attributes=True)
    return Artifact(
        **by(step),
        id=event_id("artifact", step.name.round, step.role),
        role=step.role,
        type=ARTIFACT_TYPES[step.role],
        body=body,
        findings=findings,
        proposed_claims=converted(reply.proposed_claims, tuple[ProposedClaim, ...], from_attributes=True),
        cites=reply.cites,
        self_assessment=reply.self_assessment,
        minutes=reply.minutes,
        words=words_of_artifact(body, findings),
    )


def claims(numbering: Numbering, step: Step, reply: ArtifactReply) -> Iterator[Event]:
    """Yield the claims that an artifact proposes, and the programs that come with it."""
    source = event_id("artifact", step.name.round, step.role)
    # The claims come first: a program may refer to one by its place in the reply, and needs the
    # id that it got.
    raised = [_claim(numbering, step, draft, f"{source}#{draft.section}") for draft in reply.proposed_claims]
    yield from raised
    yield from programs.planned(numbering, step, reply, raised)


def _claim(numbering: Numbering, step: Step, draft: ClaimDraft, source: str) -> Claim:
    return numbering.event(Claim, step, draft, raised_by=step.role, raised_at_artifact=source)


# ---------------------------------------------------------------- E


def positions(numbering: Numbering, step: Step, reply: PositionReply) -> tuple[Event, ...]:
    """Return sealed positions in the order of the checks, whatever order the reply has them in."""
    round_ = step.name.round
    return tuple(
        numbering.event(
            Position,
            step,
            sealed,
            id=event_id("position", round_, sealed.check_id, step.role),
            on=event_id("verification", round_, sealed.check_id),
        )
        for sealed in sorted(reply.positions, key=lambda sealed: sealed.check_id)
    )


def sealed_answer(numbering: Numbering, step: Step, reply: AnswerNow) -> tuple[Event, ...]:
    """Return the answer of a role."""
    identity, points = event_id("belief", step.name.round, step.role), as_points(reply.belief)
    answer = numbering.event(Belief, step, reply, id=identity, role=step.role, points=points, derived=False)
    return (answer,)


def verification(numbering: Numbering, step: Step, reply: CheckReply) -> tuple[Event, ...]:
    """Return a verdict, with what it does to claims."""
    check, book = int(step.task[-1]), numbering.book
    changes = tuple(
        _change(book, step, test, test.bearing, test.evidence)
        for test in reply.claims
        if test.bearing is not None
    )
    # A claim that was examined and not moved is listed too, so readers can see that the check looked at it.
    unmoved = tuple(test.claim_id for test in reply.claims if test.bearing is None)
    # A verdict rests on its own evidence and on that for each claim. Duplicates go, in order: a reference that
    # supports the verdict and a claim would count twice against SD-38.
    cited = (cited for test in reply.claims for cited in test.evidence)
    verdict = numbering.event(
        Verification,
        step,
        reply,
        id=event_id("verification", step.name.round, check),
        check=CHECKS[check - 1],
        check_id=check,
        evidence_refs=tuple(dict.fromkeys((*reply.evidence, *cited))),
        claims_affected=(*(change.claim_id for change in changes), *unmoved),
        claim_status_changes=changes,
    )
    return (verdict,)


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


def resolutions(numbering: Numbering, step: Step, reply: ResolveReply) -> tuple[Event, ...]:
    """Return the last word on each pending claim, in the order in which the claims were raised."""
    round_, state = step.name.round, numbering.book.state
    # Numbers go on after the resolutions of this round that are already on the ledger.
    taken = sum(facts.round == round_ and facts.check_id == 5 for facts in state.checks.values())
    # As text, C-10-1 sorts before C-2-1.
    order = {claim: n for n, claim in enumerate(state.claims)}
    ordered = sorted(reply.resolutions, key=lambda resolution: order[resolution.claim_id])
    return tuple(
        numbering.event(
            Verification,
            step,
            resolution,
            id=event_id("verification", round_, number),
            check="synthesis_resolution",
            check_id=5,
            evidence_refs=resolution.evidence,
            claims_affected=(resolution.claim_id,),
            claim_status_changes=(
                _change(numbering.book, step, resolution, resolution.bearing, resolution.evidence),
            ),
        )
        for number, resolution in enumerate(ordered, 5 + taken)
    )


# ---------------------------------------------------------------- F, G, H, S


def _against(reply: ReviewReply | RetrospectiveReply) -> dict[str, str]:
    """Return what a role looked back at, and what it holds against the run's direction, if anything."""
    return {"summary": reply.summary, AGAINST: reply.against or ""}


def review(numbering: Numbering, step: Step, reply: ReviewReply) -> tuple[Event, ...]:
    """Return what the round showed a role, its objections, and where it changed its mind."""
    events: list[Event] = [*statement(step, "review", _against(reply))]
    for flip in sorted(reply.flips, key=lambda flip: flip.check_id):
        key = (step.name.round, flip.check_id, step.role)
        sealed = event_id("position", *key)
        # The earlier stance is read from the ledger, so a role cannot restate what it believed before.
        before = numbering.book.state.positions[sealed].stance
        events.append(
            Flip(
                **by(step),
                id=event_id("flip", *key),
                of=sealed,
                from_=before,
                to=flip.to,
                because=evidence_of(flip.because),
            )
        )
    return tuple(events)


def findings(numbering: Numbering, step: Step, reply: ReviewReply) -> Iterator[Event]:
    """Yield claims and tensions of a review."""
    for draft in reply.claims:
        yield _claim(numbering, step, draft, f"{statement_id(step)}#summary")
    for tension in reply.tensions:
        yield numbering.event(Concern, step, tension, type="tension")


def decided(kind: StatementType) -> Callable[[Numbering, Step, Any], tuple[Event, ...]]:
    """Build a function that returns the text of the deciding role, with how each objection is met."""

    def statements(
        numbering: Numbering, step: Step, reply: AssessmentReply | ClosingReply
    ) -> tuple[Event, ...]:
        met = {f"met-{numbering.book.by_id[answer.objection].by}": answer.how for answer in reply.met}
        objections = tuple(answer.objection for answer in reply.met)
        return statement(step, kind, _texts(reply.sections) | met, responds_to=objections)

    return statements


def assessed(numbering: Numbering, step: Step, reply: AssessmentReply) -> Iterator[Event]:
    """Yield decisions of a round, and what stays open."""
    for draft in reply.decisions:
        yield _decision(numbering, step, draft, "round")
    for concern in reply.concerns:
        yield numbering.event(Concern, step, concern)


def closed(numbering: Numbering, step: Step, reply: ClosingReply) -> Iterator[Event]:
    """Yield final decisions."""
    for draft in reply.decisions:
        yield _decision(numbering, step, draft, "final")


def _decision(numbering: Numbering, step: Step, draft: DecisionDraft, kind: str) -> Decision:
    cites = tuple(
        Cite(type=cast("Any", cite_type(cite.id)), id=cite.id, relation=cite.relation) for cite in draft.cites
    )
    dissent = objections(numbering.book, draft.dissent)
    return numbering.event(Decision, step, draft, type=kind, cites=cites, dissent=dissent)


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


def drift_check(numbering: Numbering, step: Step, reply: DriftReply) -> tuple[Event, ...]:
    """Return the drift check of the round."""
    return (numbering.event(DriftCheck, step, reply, id=event_id("drift_check", step.name.round)),)


def retrospective(_: Numbering, step: Step, reply: RetrospectiveReply) -> tuple[Event, ...]:
    """Return the retrospective of a role, with the failure modes that it saw."""
    ticks = tuple(ModeSeen(mode=tick.mode, seen=tick.seen) for tick in reply.failure_modes)
    return statement(step, "retrospective", _against(reply), checklist=ticks)


# ---------------------------------------------------------------- verdicts of the controller


def missing_checks(book: Book) -> tuple[Event, ...]:
    """Return a verdict NOT_APPLICABLE for each check that cannot be made, once D is closed."""
    state, round_ = book.state, book.state.round
    present = active_roles(state, round_)
    # Before D is closed it is unknown which artifacts get lost, so a verdict now could be wrong.
    if "D" not in plan_row(state, round_).phases or not all(
        state.is_done(f"r{round_}.D.{role}") for role in present
    ):
        return ()
    applicable = applicable_checks(state, round_)
    return tuple(
        _verdict(book, check, notes=_cause(state, round_, check))
        for check in (1, 2, 3, 4)
        if check not in applicable and event_id("verification", round_, check) not in state.checks
    )


def lost_verdict(book: Book, step: Step) -> tuple[Event, ...]:
    """Record a lost verdict as UNCLEAR, with the artifacts side by side as its evidence."""
    check, round_ = int(step.task[-1]), step.name.round
    artifacts = [
        event_id("artifact", round_, role) for role in CHECK_NEEDS[check] or active_roles(book.state, round_)
    ]
    refs = tuple(Evidence(ref=artifact) for artifact in artifacts if artifact in book.state.artifacts)
    notes = "The verifier gave no verdict; the artifacts stand side by side."
    # SD-38: a verdict other than NOT_APPLICABLE needs two references. With fewer artifacts only
    # that one is left.
    lost = {"result": "UNCLEAR", "evidence_refs": refs} if len(refs) >= 2 else {}
    return (_verdict(book, check, notes=notes, **lost),)


def _verdict(book: Book, check: int, **fields: Any) -> Verification:
    round_ = book.state.round
    named = {"id": event_id("verification", round_, check), "check": CHECKS[check - 1], "check_id": check}
    numbering = Numbering(book, round_)
    return numbering.computed(Verification, "E", **({"result": "NOT_APPLICABLE"} | named | fields))


def _cause(state: State, round_: int, check: int) -> str:
    opened = state.rounds[round_]
    if check in opened.applicable:
        # Lost roles are sorted, since the wording is part of the ledger and must not depend on arrival.
        lost = ", ".join(sorted(lost_artifacts(state, round_)))
        return f"The artifact of {lost} was given up, so this check has nothing to test."
    if check == 4:
        return "No earlier decision exists that the artifacts could be held against."
    return (
        f"STRESS-{(opened.absent or '').upper()}: {opened.absent} is absent and has no artifact this round."
    )
