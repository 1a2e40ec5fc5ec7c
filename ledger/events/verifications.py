"""What is tested: the kinds of `verifications.jsonl` (FORMAT 2)."""

from typing import Annotated, Literal

from msgspec import Meta

from ledger.events.envelope import Envelope
from ledger.events.values import (
    Bearing,
    CheckId,
    Decimal,
    Evidence,
    EvidenceClass,
    Five,
    Hash,
    Id,
    Instant,
    Name,
    Nat,
    Positive,
    Prose,
    Ref,
    Result,
    Severity,
    Short,
    Status,
    Value,
    Whole,
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


class WordReadings(Value, frozen=True, kw_only=True):
    """A word of the question that can be read in more than one way."""

    word: Name
    readings: tuple[Prose, ...]


class NamedBlob(Value, frozen=True, kw_only=True):
    """A file of an experiment: its name in the work directory, and the blob that holds it."""

    name: Name
    sha256: Hash


class InputBlob(Value, frozen=True, kw_only=True):
    """A file that an experiment reads, and where it comes from."""

    name: Name
    sha256: Hash
    origin: Short


class Predicate(Value, frozen=True, kw_only=True):
    """One thing that must be so of a finished program; a list of them holds when all do."""

    of: Literal["exit", "stdout", "stderr", "json"]
    test: Literal["equals", "matches", "at_least", "at_most", "near"]
    value: Short
    pointer: Short | None = None
    tolerance: Decimal | None = None


class ExperimentControl(Value, frozen=True, kw_only=True):
    """The same program on a subject on which it must fail, or must hold."""

    must: Literal["fail", "hold"]
    files: tuple[NamedBlob, ...]
    argv: tuple[Short, ...]


class ExperimentLimits(Value, frozen=True, kw_only=True):
    """What one repetition may use; there is never a network."""

    wall_seconds: Positive
    cpu_seconds: Positive
    memory_bytes: Positive
    output_bytes: Positive


class ExperimentEnvironment(Value, frozen=True, kw_only=True):
    """Where a repetition ran."""

    interpreter: Short
    platform: Short
    sandbox: Name
    sandbox_version: Name | None
    self_test: bool


class KeptOutput(Value, frozen=True, kw_only=True):
    """What a program wrote: hash and size of the whole, and the blob of what was kept of it."""

    sha256: Hash
    bytes: Nat
    kept: Hash


class RunCounts(Value, frozen=True, kw_only=True):
    """How the repetitions of an experiment came out."""

    holds: Nat
    fails: Nat
    inconclusive: Nat
    error: Nat


class ClaimMove(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """What an experiment does to a claim."""

    claim_id: Id
    from_: Status
    to: Status


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


class Frame(Envelope, frozen=True, kw_only=True):
    """What the verifier says of the question itself, before anybody answers it."""

    kind: Literal["frame"] = "frame"
    ill_posed: bool
    why: Prose | None = None
    missing: tuple[Prose, ...] = ()
    double: tuple[tuple[Id, ...], ...] = ()
    two_readings: tuple[WordReadings, ...] = ()
    runnable: tuple[Prose, ...] = ()


class ExperimentPlanned(Envelope, frozen=True, kw_only=True):
    """A program that would decide claims, with what counts as holding and as failing, before it runs."""

    kind: Literal["experiment_planned"] = "experiment_planned"
    claims: tuple[Id, ...]
    question: Prose
    files: tuple[NamedBlob, ...]
    argv: tuple[Short, ...]
    inputs: tuple[InputBlob, ...] = ()
    pass_if: tuple[Predicate, ...]
    fail_if: tuple[Predicate, ...]
    controls: tuple[ExperimentControl, ...] = ()
    k: Positive
    limits: ExperimentLimits
    seed: Nat


class ExperimentRun(Envelope, frozen=True, kw_only=True):
    """One repetition of a planned experiment, or of one of its controls."""

    kind: Literal["experiment_run"] = "experiment_run"
    of: Id
    n: Positive
    control: Literal["must_fail", "must_hold"] | None = None
    environment: ExperimentEnvironment
    exit: Whole | None = None
    signal: Annotated[int, Meta(ge=1, le=255)] | None = None
    stdout: KeptOutput
    stderr: KeptOutput
    outputs: tuple[NamedBlob, ...] = ()
    started_at: Instant
    ms: Nat


class ExperimentJudged(Envelope, frozen=True, kw_only=True, rename={"class_": "class"}):
    """What the repetitions come to, computed from the plan's predicates alone; it moves the claims."""

    kind: Literal["experiment_judged"] = "experiment_judged"
    of: Id
    counts: RunCounts
    verdict: Literal["holds", "fails", "flaky", "inconclusive", "error"]
    class_: Literal["ran", "reproduced"] | None = None
    changes: tuple[ClaimMove, ...] = ()
