"""What is decided: the kinds of `decisions.jsonl` (FORMAT 2)."""

from typing import Annotated, Literal

from msgspec import Meta, field

from ledger.events.envelope import (
    Decimal,
    Envelope,
    FailureMode,
    Hash,
    Id,
    Identified,
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
    StandingStatus,
    TestResult,
    Value,
    Whole,
)
from ledger.events.run import Profile

CiteType = Literal[
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
DecisionType = Literal["round", "final", "override", "answer", "gate"]
Maker = Literal["consensus", "round_lead", "adversary_concession", "judge", "resolver", "human", "rule"]
Relation = Literal["based-on", "supported-by", "builds-on", "overturns", "supersedes", "resolves"]
Advice = Literal["strong_stop", "wrap_up", "borderline", "continue", "escalate"]
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

    type: CiteType  # what id names
    id: Id  # what the decision rests on or ends
    relation: Relation  # how


class Zones(Value, frozen=True, kw_only=True):
    """Where the sides agree, and where they do not."""

    agreement: tuple[Prose, ...] = ()  # where the sides agree
    contested: tuple[Prose, ...] = ()  # where they do not


class Dissent(Value, frozen=True, kw_only=True):
    """Who disagrees with a decision, in these words."""

    role: Role  # who
    ref: Id  # where the words stand
    text: Prose  # against the decision, in its own words


class SignalReading(Value, frozen=True, kw_only=True):
    """One stop signal as it was read."""

    id: Literal["S1", "S2", "S3", "S4", "S5", "S6"]  # the signal
    satisfied: bool  # whether it speaks for stopping
    value: Decimal | None  # what was measured
    threshold: Decimal | None  # what it is held against
    evidence: tuple[Id, ...] = ()  # what it was read from


class Gate(Value, frozen=True, kw_only=True):
    """One readiness gate."""

    name: Name  # which condition
    ok: bool  # whether it holds
    value: Short | None  # what was measured
    limit: Short | None  # what it is held against


class ValueOfTest(Value, frozen=True, kw_only=True):
    """What testing a crux is worth, in points."""

    claim: Id  # the crux
    evsi: Decimal  # points of probability of choosing right


class Requirement(Value, frozen=True, kw_only=True):
    """Something that must be met before a decision is followed, and what can meet it."""

    text: Prose  # what must be met
    # a later round or program, a person, or events outside; null where nobody said
    by: Literal["run", "person", "world"] | None = None


class Decision(Identified, frozen=True, kw_only=True):
    """Something decided, with what it rests on and who dissents (SD-47)."""

    kind: Literal["decision"] = "decision"
    text: Prose  # what is decided
    # final answers the question; answer and override are a person's
    type: DecisionType
    cites: tuple[Cite, ...]  # what it rests on, and what it ends
    made_by: Maker  # how it came about
    round_artifact_refs: tuple[Ref, ...] = ()  # sections of artifacts that it uses
    anchor_ref: Id | None = None  # the goal that it serves
    about: tuple[Id, ...] = ()  # options that it is about
    confidence: Annotated[int, Meta(ge=1, le=5)] | None = None  # 1 guess to 5 sure
    narratives: tuple[Prose, ...] = ()  # the same from several sides
    zones: Zones | None = None  # agreement and contest
    dissent: tuple[Dissent, ...] = ()  # who disagrees
    falsifiers: tuple[Prose, ...] = ()  # what would show it to be wrong
    requirements: tuple[Requirement, ...] = ()  # what must be met before it is followed
    name: Name | None = None  # the person, if a person decided
    result: TestResult | None = None  # of a test that the person made
    claims: tuple[Id, ...] = ()  # claims that the result is about
    output: Hash | None = None  # blob of what the test produced


class Disposition(Envelope, frozen=True, kw_only=True):
    """What became of a challenge, concern or assumption (JB-4, AD-20 … AD-26)."""

    kind: Literal["disposition"] = "disposition"
    of: Id  # the challenge, concern or assumption
    disposition: Literal[  # what became of it
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
    reason: Prose  # why
    revision: Prose | None = None  # what was changed for it
    question: Prose | None = None  # what a person is asked


class Score(Envelope, frozen=True, kw_only=True):
    """A judge's score; the total is ours (XS-8 … XS-12, AD-16)."""

    kind: Literal["score"] = "score"
    of: Id  # what is scored
    rubric: Name  # names parts and their ranges
    parts: dict[str, Whole]  # points by part of the rubric
    total: Decimal  # computed by moot
    claimed_total: Decimal | None = None  # what the judge said it was
    fallacies: tuple[Fallacy, ...] = ()  # found in the argument
    notes: Prose | None = None  # why
    judge: Positive  # number of the judge, from 1
    order: tuple[Id, ...] = ()  # in which the judge read the arguments


class Standing(Envelope, frozen=True, kw_only=True):
    """Standing of an argument or option at the end (XS-11, AD-16)."""

    kind: Literal["standing"] = "standing"
    of: Id  # the argument or option
    # how it stands at the end
    standing: Literal["UPHELD", "PARTIALLY_UPHELD", "REFUTED", "UNCERTAIN", "SURVIVE", "COLLAPSE"]
    reason: Prose  # why


class Vote(Identified, frozen=True, kw_only=True):
    """One ballot; the decision is computed by policy (S4-1 … S4-9)."""

    kind: Literal["vote"] = "vote"
    ballot: Positive  # from 1
    decision: Literal["ACT", "WARN", "REFUSE", "VETO"]  # what the role votes for
    confidence: Percent  # percent
    risk: Percent  # percent
    reasoning: Prose  # why
    fallback: bool  # it stands in for a reply that was lost


class Ruling(Envelope, frozen=True, kw_only=True):
    """Result of the votes by a named rule (S4-14 … S4-20)."""

    kind: Literal["ruling"] = "ruling"
    decision: Literal["ACT", "WARN", "REFUSE"]  # what the votes come to
    rule: Name  # which one decided
    rules: Name  # the policy
    votes: tuple[Nat, ...]  # seq of the votes
    metadata: dict[str, Scalar]  # numbers that the rule used


class Signals(Envelope, frozen=True, kw_only=True):
    """The stop signals that the run acted on (SD-60)."""

    kind: Literal["signals"] = "signals"
    profile: Profile  # which signals, by which arithmetic
    params: Hash  # SHA-256 of the parameter file
    through: Nat  # last seq that was read
    signals: tuple[SignalReading, ...]  # one by one
    satisfied: Nat  # how many speak for stopping
    of: Nat  # how many were read
    stop: bool  # whether the run stops
    advice: Advice  # in a word
    gates: tuple[Gate, ...] = ()  # conditions of readiness
    leader: Id | None = None  # profile crux: the option in front
    # profile crux: group forecast, option to points with 6 digits
    pool: dict[str, Decimal] = field(default_factory=dict[str, Decimal])
    values: tuple[ValueOfTest, ...] = ()  # profile crux: value of a test of each unsettled crux
    status: StandingStatus | None = None  # profile crux: what the outcome would be


class Alarm(Envelope, frozen=True, kw_only=True):
    """A failure mode noticed, or its closing (DETECTORS 3.2)."""

    kind: Literal["alarm"] = "alarm"
    fm: FailureMode  # the failure mode
    action: Literal["raised", "closed"]  # whether it begins or ends
    verdict: Literal["WATCH", "ALARM"]  # how bad
    e_value: Name | None = None  # evidence against chance, where the detector has one
    onset_round: Round | None = None  # where it seems to have begun
    evidence: tuple[Id, ...] = ()  # what it was read from
    params: Hash  # SHA-256 of the parameter file
    closes: Nat | None = None  # seq of the alarm that it closes
    because: Prose | None = None  # why it is closed
    name: Name | None = None  # the person, if a person closed it
