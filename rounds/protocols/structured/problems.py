"""Checks of well-shaped replies of `structured`, in words that name only what the brief quoted (FORMAT 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from detectors.stopping.readiness import answer_keys
from ledger.events import Statement
from ledger.events.ids import event_id, kind_of, parse_reference
from ledger.state.book import sections_of
from roles.asof import status_at_opening
from roles.objections import objection_in
from roles.replies import (
    ActionArtifact,
    ArtifactReply,
    AssessmentReply,
    CheckReply,
    ClaimDraft,
    ClosingReply,
    ConcernDraft,
    CriticArtifact,
    DecisionDraft,
    DriftReply,
    GuardianArtifact,
    ObserverArtifact,
    PositionReply,
    ResolveReply,
    ReviewReply,
    StatementReply,
)
from rounds.protocols.citations import Quotable, ids_problems, names, points_problems, repeated
from rounds.protocols.schedule import applicable_checks, authors, claim_cap
from rounds.protocols.structured.making import artifact
from rounds.protocols.structured.replies import AnswerNow

# Artifacts and statements are missing here: a decision rests on something that was tested
# or recorded as open.
_WHOLE_TEXTS = ("statement", "artifact", "document")
_CITABLE = ("claim", "verification", "decision", "concern", "drift_check", "experiment_planned")


def wrong_statement(known: Quotable, reply: StatementReply) -> Iterator[str]:
    """Yield what is wrong with a proposal or a supplement."""
    yield from repeated((section.name for section in reply.sections), "sections")
    yield from ids_problems(known, reply.responds_to, "responds_to")
    yield from known.option_problems(reply.options, "options")


def wrong_answer(known: Quotable, reply: AnswerNow) -> Iterator[str]:
    """Yield what is wrong with points or with what they cite."""
    yield from points_problems(reply.belief, answer_keys(known.state), "belief")


def wrong_assessment(known: Quotable, reply: AssessmentReply) -> Iterator[str]:
    """Yield what is wrong with an assessment: its decisions, and what it leaves open."""
    yield from wrong_closing(known, reply)
    for n, concern in enumerate(reply.concerns):
        yield from _parties(known, concern.between, f"concerns[{n}].between")
        if concern.type == "tension" and len(concern.between) < 2:
            yield f"concerns[{n}].between: a tension is between at least two"
    yield from _wrong_marks(known, reply.concerns)


DECIDING_MAX: Final = 3
"""Questions that a lead may mark as deciding in one assessment."""


def _wrong_marks(known: Quotable, concerns: Sequence[ConcernDraft]) -> Iterator[str]:
    """Yield what is wrong with the marks of questions that decide."""
    marked = [(n, concern) for n, concern in enumerate(concerns) if concern.deciding is not None]
    keys = answer_keys(known.state)
    for n, concern in marked:
        if concern.type != "question" or not concern.for_human:
            yield f"concerns[{n}].deciding: only a question to a person (for_human) decides; else null"
        if concern.deciding not in keys:
            yield f"concerns[{n}].deciding: {concern.deciding!r} is no option; name one of {', '.join(keys)}"
    # A run waits for every marked question (law 7), so a lead that marks all of them would stall it.
    if len(marked) > DECIDING_MAX:
        yield f"concerns: {len(marked)} questions are marked as deciding; mark the {DECIDING_MAX} that matter most"


def wrong_closing(known: Quotable, reply: AssessmentReply | ClosingReply) -> Iterator[str]:
    """Yield what is wrong with sections and decisions."""
    yield from repeated((section.name for section in reply.sections), "sections")
    yield from _decisions(known, reply.decisions)
    yield from _objections(known, reply)


def _objections(known: Quotable, reply: AssessmentReply | ClosingReply) -> Iterator[str]:
    """Yield objections of others that are neither kept as dissent nor met.

    A role that decides is not against its own decision.
    """
    # Only objections that the prompt quoted count: naming one that it did not see would be a guess.
    quoted = {
        identity
        for identity, event in known.by_id.items()
        if isinstance(event, Statement)
        and event.phase == ("F" if isinstance(reply, AssessmentReply) else "S")
        and event.by != known.step.role
        and objection_in(event) is not None
    }
    places = [
        *(
            (f"decisions[{n}].dissent", named)
            for n, draft in enumerate(reply.decisions)
            for named in draft.dissent
        ),
        *(("met", entry.objection) for entry in reply.met),
    ]
    for where, named in places:
        if named not in quoted:
            yield f"{where}: {named!r} is no objection; they are {names(sorted(quoted)) or 'none'}"
    yield from repeated((entry.objection for entry in reply.met), "met")
    for n, draft in enumerate(reply.decisions):
        yield from repeated(draft.dissent, f"decisions[{n}].dissent")
    for left in sorted(quoted - {named for _, named in places}):
        yield f"met: the objection {left} stands against no decision and is not met; say which"


def _parties(known: Quotable, parties: Iterable[str], where: str) -> Iterator[str]:
    roles = authors(known.state)
    for party in parties:
        if party not in roles and party not in known.by_id:
            yield f"{where}: {party!r} is neither a role nor a known id"


def wrong_artifact(known: Quotable, reply: ArtifactReply) -> Iterator[str]:
    """Yield what is wrong with an artifact: its sections, claims and references."""
    # The sections are those of the event that this reply would become, so checks and readers count alike.
    # Without its claims and references: these are checked below, and may be no ids that an event takes.
    own = sections_of(artifact(known.step, replace(reply, proposed_claims=(), cites=())))
    for n, finding in enumerate(reply.findings):
        if finding.section not in own:
            yield f"findings[{n}].section: {finding.section!r} is no section of this artifact; they are {names(own)}"
    cap = claim_cap(known.state)
    if len(reply.proposed_claims) > cap:
        yield f"proposed_claims: {len(reply.proposed_claims)} claims, while at most {cap} may be proposed"
    yield from _claims(known, reply.proposed_claims, "proposed_claims", own)
    for n, ref in enumerate(reply.cites):
        yield from known.reference_problems(ref, f"cites[{n}]")
    match reply:
        case ActionArtifact():
            yield from _traces(known, reply)
        case GuardianArtifact():
            yield from _invariant(known, reply)
        case ObserverArtifact():
            for n, friction in enumerate(reply.body.friction):
                if friction.step > len(reply.body.steps):
                    yield f"body.friction[{n}].step: there is no step {friction.step}"
        case CriticArtifact():
            yield from known.reference_problems(reply.body.target, "body.target")


def _traces(known: Quotable, reply: ActionArtifact) -> Iterator[str]:
    # SD-6: exactly these three traces, in this order. Readers refer to them by position.
    for n, (trace, kind) in enumerate(
        zip(reply.body.traces, ("happy_path", "edge_case", "cross_round"), strict=True)
    ):
        if trace.kind != kind:
            yield f"body.traces[{n}].kind: trace {n + 1} is the {kind}"
        for k, hook in enumerate(trace.hooks):
            yield from known.reference_problems(hook, f"body.traces[{n}].hooks[{k}]")
    # SD-9: round 1 has no earlier primitive, so its cross-round trace may go without a hook.
    if known.step.name.round > 1 and not reply.body.traces[2].hooks:
        yield "body.traces[2].hooks: the cross-round trace names at least one earlier decision, claim or text"


def _invariant(known: Quotable, reply: GuardianArtifact) -> Iterator[str]:
    body = reply.body
    for n, evidence in enumerate(body.evidence):
        yield from known.reference_problems(evidence.ref, f"body.evidence[{n}]", evidence.quote)
    # SD-10: a FAIL names its mechanism, and no other verdict may carry one.
    if (body.verdict == "FAIL") != bool(body.mechanism):
        yield "body.mechanism: given if and only if the verdict is FAIL"
    if (body.verdict == "CONDITIONAL_PASS") != bool(body.condition):
        yield "body.condition: given if and only if the verdict is CONDITIONAL_PASS"


def _claims(
    known: Quotable, drafts: tuple[ClaimDraft, ...], where: str, sections: Mapping[str, object]
) -> Iterator[str]:
    for n, draft in enumerate(drafts):
        place = f"{where}[{n}]"
        if draft.section not in sections:
            yield f"{place}.section: {draft.section!r} is no section of this reply; they are {names(sections)}"
        yield from known.goal_problem(draft.anchor_ref, f"{place}.anchor_ref")
        yield from known.option_problems(draft.about, f"{place}.about")
        yield from _places(known, draft, f"{place}.places")
        if draft.supersedes is not None:
            yield from _supersedes(known, draft.supersedes, f"{place}.supersedes")


def _places(known: Quotable, draft: ClaimDraft, where: str) -> Iterator[str]:
    """Yield problems with places: they are passages and not whole texts, since a verifier is shown each."""
    for n, ref in enumerate(draft.places):
        reference = parse_reference(ref)
        own = reference.id == event_id("artifact", known.step.name.round, known.step.role)
        if own or (
            reference.section is None and reference.lines is None and kind_of(reference.id) in _WHOLE_TEXTS
        ):
            why = "is your own artifact, which `section` points into" if own else "is a whole text"
            yield f"{where}[{n}]: {ref!r} {why}; name the section, the paragraph or the lines"
        else:
            yield from known.reference_problems(ref, f"{where}[{n}]")


def _supersedes(known: Quotable, older: str, where: str) -> Iterator[str]:
    if older not in known.by_id or older not in known.state.claims:
        yield f"{where}: claim {older!r} is unknown"
        return
    # Judged at the opening of the step, like statuses of changes: a claim that was tested meanwhile was
    # not shown as such.
    status = status_at_opening(known.state, older, known.step)
    if status in ("pending", "superseded"):
        yield f"{where}: {older} is {status}; only a tested claim can be superseded"


def wrong_positions(known: Quotable, reply: PositionReply) -> Iterator[str]:
    """Yield what is wrong with sealed positions: one for every check that is made."""
    wanted = applicable_checks(known.state, known.step.name.round)
    positions = tuple(sorted(sealed.check_id for sealed in reply.positions))
    if positions != wanted:
        yield f"positions: exactly one for each of the checks {names(map(str, wanted))} is wanted"


def wrong_check(known: Quotable, reply: CheckReply) -> Iterator[str]:
    """Yield what is wrong with a verdict and its effect on claims."""
    for n, tested in enumerate(reply.claims):
        if tested.bearing is not None and not tested.evidence:
            yield f"claims[{n}].evidence: a claim that is moved has evidence of its own; name where you read it"
    yield from known.option_problems(reply.about, "about")
    yield from repeated((test.claim_id for test in reply.claims), "claims")
    for n, test in enumerate(reply.claims):
        yield from _bearing(known, test.claim_id, test.bearing, reply.result, f"claims[{n}]")


def _bearing(known: Quotable, claim: str, bearing: str | None, result: str, where: str) -> Iterator[str]:
    if claim not in known.by_id or claim not in known.state.claims:
        yield f"{where}.claim_id: claim {claim!r} is unknown"
        return
    # SD-44: superseded is final. A claim may still be listed without a bearing.
    if status_at_opening(known.state, claim, known.step) == "superseded" and bearing is not None:
        yield f"{where}: {claim} is superseded; that is final"
    # SD-44 ties a status to a result; without this an UNCLEAR check could confirm a claim.
    if bearing is not None and (bearing == "inconclusive") != (result == "UNCLEAR"):
        yield f"{where}.bearing: UNCLEAR goes with inconclusive, and only with it"


def wrong_review(known: Quotable, reply: ReviewReply) -> Iterator[str]:
    """Yield what is wrong with a review: flips, claims, tensions."""
    round_ = known.step.name.round
    # A review has one text, so its claims can point only into the summary.
    yield from _claims(known, reply.claims, "claims", {"summary": ()})
    yield from repeated((flip.check_id for flip in reply.flips), "flips")
    for n, flip in enumerate(reply.flips):
        position = known.state.positions.get(event_id("position", round_, flip.check_id, known.step.role))
        if position is None:
            yield f"flips[{n}]: you have no sealed position on check {flip.check_id}"
        elif position.stance == flip.to:
            yield f"flips[{n}].to: that is your position already"
    for n, tension in enumerate(reply.tensions):
        yield from _parties(known, tension.between, f"tensions[{n}].between")


def _decisions(known: Quotable, drafts: Sequence[DecisionDraft]) -> Iterator[str]:
    for n, draft in enumerate(drafts):
        place = f"decisions[{n}]"
        for k, cite in enumerate(draft.cites):
            if kind_of(cite.id) not in _CITABLE or cite.id not in known.by_id:
                yield f"{place}.cites[{k}]: {cite.id!r} is unknown; cite claims, verifications, decisions, concerns"
            elif cite.relation in ("overturns", "supersedes") and kind_of(cite.id) != "decision":
                yield f"{place}.cites[{k}]: only a decision can be overturned or superseded by a decision"
        # A second cite of one id would pass the minimum of SD-47 without a second source.
        yield from repeated((cite.id for cite in draft.cites), f"{place}.cites")
        for k, ref in enumerate(draft.round_artifact_refs):
            yield from known.reference_problems(ref, f"{place}.round_artifact_refs[{k}]")
        yield from known.goal_problem(draft.anchor_ref, f"{place}.anchor_ref")
        yield from known.option_problems(draft.about, f"{place}.about")


def wrong_drift(known: Quotable, reply: DriftReply) -> Iterator[str]:
    """Yield what is wrong with a drift check: one answer for every goal."""
    goals = tuple(entry.id for entry in known.opened.goals)
    if tuple(sorted(anchor.goal for anchor in reply.anchors)) != tuple(sorted(goals)):
        yield f"anchors: exactly one for each goal is wanted: {names(goals)}"
    if reply.addresses is not None:
        # An answer to a failed drift check is a later PASS that names it; anything else leaves it open.
        failed = {facts.id for facts in known.state.drift.values() if facts.verdict == "FAIL"}
        if reply.addresses not in failed or reply.verdict != "PASS":
            yield "addresses: only a PASS can address, and only an earlier FAIL"


def wrong_resolutions(known: Quotable, reply: ResolveReply) -> Iterator[str]:
    """Yield what is wrong with resolutions: one for every pending claim."""
    pending = sorted(claim for claim, facts in known.state.claims.items() if facts.status == "pending")
    if sorted(resolution.claim_id for resolution in reply.resolutions) != pending:
        yield f"resolutions: exactly one for each pending claim is wanted: {names(pending)}"
        # With a claim missing, the list is out of step and errors about single entries would mislead.
        return
    for n, resolution in enumerate(reply.resolutions):
        yield from _bearing(
            known, resolution.claim_id, resolution.bearing, resolution.result, f"resolutions[{n}]"
        )
