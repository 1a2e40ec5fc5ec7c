"""What is tested: the kinds of `verifications.jsonl` (FORMAT 2)."""

from typing import Literal

from ledger.events.envelope import Envelope
from ledger.events.values import (
    Bearing,
    CheckId,
    Evidence,
    EvidenceClass,
    Five,
    Hash,
    Id,
    Name,
    Nat,
    Positive,
    Prose,
    Ref,
    Result,
    Severity,
    Status,
    Value,
)

Check = Literal[
    "critic_attack_on_action_trace",
    "guardian_vs_observer_walkthrough",
    "observer_friction_vs_critic_attack",
    "all_vs_prior_decisions",
    "claim_retest",
    "synthesis_resolution",
]
CHECKS: tuple[Check, ...] = (
    "critic_attack_on_action_trace",
    "guardian_vs_observer_walkthrough",
    "observer_friction_vs_critic_attack",
    "all_vs_prior_decisions",
)


class StatusChange(Value, frozen=True, kw_only=True, rename={"from_": "from", "class_": "class"}):
    """What a verification does to a claim; `to` follows from `bearing` (SD-45)."""

    claim_id: Id
    from_: Status
    to: Status
    bearing: Bearing
    class_: EvidenceClass | None = None
    evidence: tuple[Evidence, ...] = ()


class Anchor(Value, frozen=True, kw_only=True):
    """Whether a goal was served, with where it shows."""

    goal: Id
    served: Literal["yes", "partly", "no"]
    evidence: tuple[Evidence, ...] = ()


class ScreeningIssue(Value, frozen=True, kw_only=True):
    """One part of a screening score, in points."""

    kind: Name
    points: Nat
    detail: Prose


class ValidationFinding(Value, frozen=True, kw_only=True):
    """A broken rule as a `validation` event keeps it."""

    code: Name
    severity: Severity
    seq: Nat | None
    message: Prose


class SentenceCheck(Value, frozen=True, kw_only=True):
    """Whether what a sentence of a memo cites says what the sentence says."""

    of: Ref
    verdict: Literal["supported", "partly", "not"]
    reason: Prose


class Verification(Envelope, frozen=True, kw_only=True):
    """One check of a round, or the test of one claim (SD-27 … SD-38, SD-45)."""

    kind: Literal["verification"] = "verification"
    check: Check
    check_id: CheckId
    result: Result
    evidence_refs: tuple[Evidence, ...] = ()
    notes: Prose
    claims_affected: tuple[Id, ...] = ()
    claim_status_changes: tuple[StatusChange, ...] = ()
    about: tuple[Id, ...] = ()
    repeats: Id | None = None
    confidence: Five | None = None


class Challenge(Envelope, frozen=True, kw_only=True):
    """An attack on something that is on the ledger (JB-3, XS-4, S4-10, AD-20, AD-30)."""

    kind: Literal["challenge"] = "challenge"
    target: Ref
    tag: Literal["STRUCTURAL", "ASSUMPTION", "MISSING", "DRIFT"] | None = None
    type: Literal["refute", "challenge", "concede", "partial", "question", "attack"] | None = None
    claim: Prose
    text: Prose
    rank: Positive | None = None
    follow_up_question: Prose | None = None
    evidence: tuple[Evidence, ...] = ()
    severity: Five | None = None


class Response(Envelope, frozen=True, kw_only=True):
    """The answer to a challenge or a question (AD-20, AD-24, AD-30, XS-7)."""

    kind: Literal["response"] = "response"
    to: Id
    outcome: Literal["defend", "concede", "revise", "answer", "fix", "justify"]
    text: Prose
    evidence: tuple[Evidence, ...] = ()
    revised: Ref | None = None


class Flip(Envelope, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A sealed position changed after the verdict, with the new evidence for it, if any (DETECTORS FM-1)."""

    kind: Literal["flip"] = "flip"
    of: Id
    from_: Literal["BROKEN", "ROBUST", "UNCLEAR", "for", "against", "abstain"]
    to: Literal["BROKEN", "ROBUST", "UNCLEAR", "for", "against", "abstain"]
    because: tuple[Evidence, ...] = ()


class DriftCheck(Envelope, frozen=True, kw_only=True):
    """Whether the decisions still serve the goals (SD-58, SD-68)."""

    kind: Literal["drift_check"] = "drift_check"
    verdict: Literal["PASS", "FAIL", "PARTIAL"]
    deviation_score: Five
    notes: Prose
    anchors: tuple[Anchor, ...] = ()
    addresses: Id | None = None
    sentences: tuple[SentenceCheck, ...] = ()


class Screening(Envelope, frozen=True, kw_only=True):
    """An additive risk score of text from outside (S4-22 … S4-28)."""

    kind: Literal["screening"] = "screening"
    of: Literal["question", "context", "import", "reply"]
    sha256: Hash
    score: Nat
    action: Literal["ALLOW", "WARN", "ESCALATE", "BLOCK"]
    issues: tuple[ScreeningIssue, ...] = ()
    rules: Name


class Validation(Envelope, frozen=True, kw_only=True):
    """The validators' result that the run acted on (SD-21, SD-49)."""

    kind: Literal["validation"] = "validation"
    after: Name
    through: Nat
    ok: bool
    findings: tuple[ValidationFinding, ...] = ()
    rules: Hash
