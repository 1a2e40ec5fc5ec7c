"""What is decided: the kinds of `decisions.jsonl` (FORMAT 2)."""

from typing import Annotated, Literal

from msgspec import Meta, field

from ledger.events.envelope import Envelope, SeatKind
from ledger.events.values import (
    CheckId,
    Decimal,
    Hash,
    Id,
    Long,
    Name,
    Nat,
    Percent,
    Positive,
    Prose,
    Quorum,
    Ref,
    Role,
    Round,
    Scalar,
    Short,
    Value,
    Whole,
)

Profile = Literal["script", "text", "calibrated", "crux"]
Relation = Literal["based-on", "supported-by", "builds-on", "overturns", "supersedes", "resolves"]
Advice = Literal["strong_stop", "wrap_up", "borderline", "continue", "escalate"]
SignatureCode = Literal[
    "no_broken", "no_cross_round_trace", "no_goal_verdict", "no_invariant", "fewer_claims"
]
CloseReason = Literal[
    "signals",
    "ready",
    "budget_rounds",
    "budget_usd",
    "budget_tokens",
    "budget_calls",
    "budget_minutes",
    "human",
    "seats_failed",
    "protocol_end",
    "not_ready",
    "short",
    "settled",
    "ill_posed",
    "hand_over",
    "values",
    "cap",
]
StopReason = Literal["short", "ill_posed", "budget", "settled", "hand_over", "values", "cap", "go_on"]
OutcomeStatus = Literal[
    "decide",
    "decide_with_tripwire",
    "run_this_first",
    "your_weighing",
    "ill_posed",
    "stopped",
    "running",
    "waiting",
    "nobody_answered",
]
"""What an answer asks of the person who reads it; computed, never written by a seat."""
FailureMode = Literal["FM-1", "FM-2", "FM-3", "FM-4", "FM-5", "FM-6", "FM-7", "FM-8"]
Fallacy = Literal[
    "Straw Man",
    "Appeal to Authority",
    "Slippery Slope",
    "False Dilemma",
    "Anecdotal Evidence",
    "Circular Reasoning",
    "Ad Hominem",
]


class Labelled(Value, frozen=True, kw_only=True):
    """A goal or an option with its id."""

    id: Id
    text: Prose


class ContextDocument(Value, frozen=True, kw_only=True):
    """A document under discussion, stored as a blob."""

    id: Id
    name: Name
    sha256: Hash
    bytes: Nat


class CastMember(Value, frozen=True, kw_only=True):
    """Who fills a role: its title and charge for this question, and the kind of seat."""

    role: Role
    title: Name
    charge: Prose
    seat: Name


class PlanRow(Value, frozen=True, kw_only=True):
    """One planned round."""

    round: Round
    absent: Role | None = None
    drift: bool = False
    phases: tuple[Name, ...]
    focus: Prose | None = None


class Prediction(Value, frozen=True, kw_only=True):
    """What is expected to be missing while a role is absent (SD-75)."""

    role: Role
    code: SignatureCode
    text: Prose


class StopRule(Value, frozen=True, kw_only=True):
    """When the run looks at the stop signals, and from which round on it obeys them (FORMAT 9)."""

    profile: Profile
    params: Hash
    check_every: Positive
    not_before: Round


class Budgets(Value, frozen=True, kw_only=True):
    """Limits of a run; null is none. Dollars are a decimal string."""

    usd: Decimal | None = None
    tokens: Nat | None = None
    calls: Nat | None = None
    minutes: Nat | None = None
    rounds: Nat | None = None


class Origin(Value, frozen=True, kw_only=True):
    """Where a ledger comes from."""

    type: Literal["new", "import", "fork", "redaction"]
    of: Short | None = None
    head: Hash | None = None
    seq: Nat | None = None
    tool: Name | None = None


class Waiver(Value, frozen=True, kw_only=True):
    """A safeguard that was given up, and why."""

    what: Name
    why: Prose


class Signature(Value, frozen=True, kw_only=True):
    """One predicted effect of an absence."""

    code: SignatureCode
    text: Prose


class FindingCount(Value, frozen=True, kw_only=True):
    """Findings that a role's artifact listed, and those linked to no claim (imports only)."""

    role: Role
    listed: Nat
    unlinked: Nat


class Cite(Value, frozen=True, kw_only=True):
    """What a decision rests on."""

    type: Literal[
        "claim",
        "verification",
        "decision",
        "concern",
        "challenge",
        "argument",
        "drift_check",
        "vote",
        "belief",
        "memo",
        "experiment",
        "document",
    ]
    id: Id
    relation: Relation


class Zones(Value, frozen=True, kw_only=True):
    """Where the sides agree, and where they do not."""

    agreement: tuple[Prose, ...] = ()
    contested: tuple[Prose, ...] = ()


class Dissent(Value, frozen=True, kw_only=True):
    """Who disagrees. With `text`: in these words, with the decision. Without: a position or flip (`ref`) that had
    expected another verdict than a cited one."""

    role: Role
    ref: Id
    text: Prose | None = None


class SignalReading(Value, frozen=True, kw_only=True):
    """One stop signal as it was read."""

    id: Literal["S1", "S2", "S3", "S4", "S5", "S6"]
    satisfied: bool
    value: Decimal | None
    threshold: Decimal | None
    evidence: tuple[Id, ...] = ()


class Gate(Value, frozen=True, kw_only=True):
    """One readiness gate."""

    name: Name
    ok: bool
    value: Short | None
    limit: Short | None


class ValueOfTest(Value, frozen=True, kw_only=True):
    """What testing a crux is worth, in points."""

    claim: Id
    evsi: Decimal


class MergedProposals(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """Proposals or defeaters that say the same, and the claim or concern that they became."""

    into: Id
    from_: tuple[Ref, ...]
    negated: bool


class DroppedProposal(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A proposal or defeater that was left out, and why."""

    from_: Ref
    why: Prose


class MemoSentence(Value, frozen=True, kw_only=True):
    """One sentence of a memo: where it stands, what it rests on."""

    field: Literal["answer", "do_now", "why", "changes_our_mind", "requirements", "not_settled", "assumed"]
    text: Prose
    refs: tuple[Ref, ...] = ()
    quote: Prose | None = None
    judgment: bool = False


class RemovedSentence(Value, frozen=True, kw_only=True):
    """A sentence that was taken out of a memo, and why."""

    text: Prose
    why: Prose


class Change(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """One value that an amendment changes."""

    path: Short
    from_: Scalar
    to: Scalar


class RunOpened(Envelope, frozen=True, kw_only=True):
    """The whole resolved set-up of a run: seq 0, and again where a fork parts (SD-20, SD-23 … SD-26)."""

    kind: Literal["run_opened"] = "run_opened"
    protocol: Name
    protocol_version: Positive
    question: Long
    domain: Prose | None = None
    goals: tuple[Labelled, ...]
    options: tuple[Labelled, ...] = ()
    context: tuple[ContextDocument, ...] = ()
    cast: tuple[CastMember, ...]
    plan: tuple[PlanRow, ...]
    predict: tuple[Prediction, ...] = ()
    stop: StopRule
    budgets: Budgets
    prompt_set: Hash
    brief_version: Positive
    seed: Nat
    rules: dict[str, Scalar]
    origin: Origin
    moot: Name
    waived: tuple[Waiver, ...] = ()


class RoundOpened(Envelope, frozen=True, kw_only=True):
    """A round begins: who leads, who is absent, which checks apply (SD-52, SD-75)."""

    kind: Literal["round_opened"] = "round_opened"
    lead: Role | None = None
    focus: Long
    absent: Role | None = None
    planned_stress: Role | None = None
    applicable: tuple[CheckId, ...] = ()
    predicted_signature: tuple[Signature, ...] | None = None
    findings: tuple[FindingCount, ...] | None = None
    plan_row: Nat
    cause: Nat | None = None


class Decision(Envelope, frozen=True, kw_only=True):
    """Something decided, with what it rests on and who dissents (SD-47)."""

    kind: Literal["decision"] = "decision"
    text: Prose
    type: Literal["round", "final", "override", "answer", "gate"]
    cites: tuple[Cite, ...]
    made_by: Literal["consensus", "round_lead", "adversary_concession", "judge", "resolver", "human", "rule"]
    round_artifact_refs: tuple[Ref, ...] = ()
    anchor_ref: Id | None = None
    about: tuple[Id, ...] = ()
    confidence: Annotated[int, Meta(ge=1, le=5)] | None = None
    narratives: tuple[Prose, ...] = ()
    zones: Zones | None = None
    dissent: tuple[Dissent, ...] = ()
    falsifiers: tuple[Prose, ...] = ()
    requirements: tuple[Prose, ...] = ()
    name: Name | None = None


class Disposition(Envelope, frozen=True, kw_only=True):
    """What became of a challenge, concern or assumption (JB-4, AD-20 … AD-26)."""

    kind: Literal["disposition"] = "disposition"
    of: Id
    disposition: Literal[
        "accepted",
        "rejected",
        "escalated",
        "defended",
        "conceded",
        "deflected",
        "addressed",
        "partially_addressed",
        "fixed",
        "justified",
        "resolved",
    ]
    reason: Prose
    revision: Prose | None = None
    question: Prose | None = None


class Score(Envelope, frozen=True, kw_only=True):
    """A judge's score; the total is ours (XS-8 … XS-12, AD-16)."""

    kind: Literal["score"] = "score"
    of: Id
    rubric: Name
    parts: dict[str, Whole]
    total: Decimal
    claimed_total: Decimal | None = None
    fallacies: tuple[Fallacy, ...] = ()
    notes: Prose | None = None
    judge: Positive
    order: tuple[Id, ...] = ()


class Standing(Envelope, frozen=True, kw_only=True):
    """How an argument or option stands at the end (XS-11, AD-16)."""

    kind: Literal["standing"] = "standing"
    of: Id
    standing: Literal["UPHELD", "PARTIALLY_UPHELD", "REFUTED", "UNCERTAIN", "SURVIVE", "COLLAPSE"]
    reason: Prose


class Vote(Envelope, frozen=True, kw_only=True):
    """One ballot; the decision is computed by policy (S4-1 … S4-9)."""

    kind: Literal["vote"] = "vote"
    ballot: Positive
    decision: Literal["ACT", "WARN", "REFUSE", "VETO"]
    confidence: Percent
    risk: Percent
    reasoning: Prose
    fallback: bool


class Ruling(Envelope, frozen=True, kw_only=True):
    """What the votes come to by a named rule (S4-14 … S4-20)."""

    kind: Literal["ruling"] = "ruling"
    decision: Literal["ACT", "WARN", "REFUSE"]
    rule: Name
    rules: Name
    votes: tuple[Nat, ...]
    metadata: dict[str, Scalar]


class Signals(Envelope, frozen=True, kw_only=True):
    """The stop signals that the run acted on (SD-60)."""

    kind: Literal["signals"] = "signals"
    profile: Profile
    params: Hash
    through: Nat
    signals: tuple[SignalReading, ...]
    satisfied: Nat
    of: Nat
    stop: bool
    advice: Advice
    gates: tuple[Gate, ...] = ()
    reason: StopReason | None = None
    leader: Id | None = None
    pool: dict[str, Decimal] = field(default_factory=dict[str, Decimal])
    movement: Decimal | None = None
    noise: Decimal | None = None
    values: tuple[ValueOfTest, ...] = ()


class Alarm(Envelope, frozen=True, kw_only=True):
    """A failure mode noticed, or its closing (DETECTORS 3.2)."""

    kind: Literal["alarm"] = "alarm"
    fm: FailureMode
    action: Literal["raised", "closed"]
    verdict: Literal["WATCH", "ALARM"]
    e_value: Name | None = None
    onset_round: Round | None = None
    evidence: tuple[Id, ...] = ()
    params: Hash
    closes: Nat | None = None
    because: Prose | None = None
    name: Name | None = None


class Fallback(Envelope, frozen=True, kw_only=True):
    """A seat failed for good, and what the run does instead (AD-8, S4-7)."""

    kind: Literal["fallback"] = "fallback"
    role: Role
    step_failed: Name
    reason: Literal["timeout", "refused", "truncated", "malformed", "unavailable", "budget", "given_up"]
    detail: Prose
    instead: Literal["skipped", "unclear", "refuse", "survivor_only", "raw_side_by_side"]
    quorum: Quorum


class Amendment(Envelope, frozen=True, kw_only=True):
    """A recorded change of the set-up, with its cause (SD-78 … SD-86)."""

    kind: Literal["amendment"] = "amendment"
    what: Literal["plan", "focus", "charter", "reply_rule", "budget", "seat", "redaction", "note", "waiver"]
    change: tuple[Change, ...] = ()
    cause: Nat | Name
    reason: Prose
    name: Name | None = None


class RunClosed(Envelope, frozen=True, kw_only=True):
    """The run ends, or stops and can go on (SD-73, SD-85)."""

    kind: Literal["run_closed"] = "run_closed"
    state: Literal["finished", "stopped"]
    reason: CloseReason
    outcome: tuple[Id, ...] = ()
    open: tuple[Id, ...] = ()
    quorum: Quorum
    through: Nat


class Agenda(Envelope, frozen=True, kw_only=True):
    """What the answers come to: options where none were given, what all share, and the claims worth testing."""

    kind: Literal["agenda"] = "agenda"
    options: tuple[Labelled, ...] = ()
    shared: tuple[Prose, ...] = ()
    cruxes: tuple[Id, ...] = ()
    merged: tuple[MergedProposals, ...] = ()
    dropped: tuple[DroppedProposal, ...] = ()


class Memo(Envelope, frozen=True, kw_only=True):
    """The answer in plain words for people, sentence by sentence, each with what it rests on."""

    kind: Literal["memo"] = "memo"
    status: OutcomeStatus
    sentences: tuple[MemoSentence, ...]
    removed: tuple[RemovedSentence, ...] = ()


SEAT_KINDS: tuple[SeatKind, ...] = ("anthropic", "tape", "command", "human", "host", "local")
