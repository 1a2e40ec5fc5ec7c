"""What is decided: the kinds of `decisions.jsonl` (FORMAT 2)."""

from typing import Annotated, Literal

from msgspec import Meta, field

from ledger.events.envelope import Envelope, SeatKind
from ledger.events.run import Profile
from ledger.events.values import (
    Decimal,
    Hash,
    Id,
    Name,
    Nat,
    Percent,
    Positive,
    Prose,
    Ref,
    Role,
    Round,
    Scalar,
    Short,
    Value,
    Whole,
)

Relation = Literal["based-on", "supported-by", "builds-on", "overturns", "supersedes", "resolves"]
Advice = Literal["strong_stop", "wrap_up", "borderline", "continue", "escalate"]
StopReason = Literal["short", "ill_posed", "budget", "settled", "hand_over", "values", "cap", "go_on"]
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


SEAT_KINDS: tuple[SeatKind, ...] = ("anthropic", "tape", "command", "human", "host", "local")
