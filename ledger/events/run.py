"""The run itself: its opening, its rounds, what changes it, how it ends. Kinds of `decisions.jsonl` (FORMAT 2)."""

from typing import Literal

from ledger.events.envelope import Envelope
from ledger.events.values import (
    CheckId,
    Decimal,
    Hash,
    Id,
    Long,
    Name,
    Nat,
    Positive,
    Prose,
    Quorum,
    Role,
    Round,
    Scalar,
    Short,
    Value,
)

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
SignatureCode = Literal[
    "no_broken", "no_cross_round_trace", "no_goal_verdict", "no_invariant", "fewer_claims"
]
Profile = Literal["script", "text", "calibrated", "crux"]


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


class Fallback(Envelope, frozen=True, kw_only=True):
    """A seat failed for good, and what the run does instead (AD-8, S4-7)."""

    kind: Literal["fallback"] = "fallback"
    role: Role
    step_failed: Name
    reason: Literal["timeout", "refused", "truncated", "malformed", "unavailable", "budget", "given_up"]
    detail: Prose
    instead: Literal["skipped", "unclear", "refuse", "survivor_only", "raw_side_by_side"]
    quorum: Quorum
