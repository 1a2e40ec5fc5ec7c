"""The run itself: its opening, its rounds, what changes it, how it ends. Kinds of `decisions.jsonl` (FORMAT 2)."""

from typing import Literal

from ledger.events.envelope import (
    CheckId,
    Decimal,
    Envelope,
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
    "hand_over",
]
SignatureCode = Literal[
    "no_broken", "no_cross_round_trace", "no_goal_verdict", "no_invariant", "fewer_claims"
]
Profile = Literal["gates", "published", "crux"]


class Labelled(Value, frozen=True, kw_only=True):
    """A goal or an option with its id."""

    id: Id  # G-n of a goal, O-n of an option
    text: Prose  # in the asker's words


class ContextDocument(Value, frozen=True, kw_only=True):
    """A document under discussion, stored as a blob."""

    id: Id  # K-n
    name: Name  # the name of its file
    sha256: Hash  # its blob
    bytes: Nat  # its size
    change: bool = False  # a unified diff that moot computed from a repository


class CastMember(Value, frozen=True, kw_only=True):
    """Who fills a role: its title and charge for this question, and the kind of seat."""

    role: Role  # the role of the protocol
    title: Name  # what it is called in this run
    charge: Prose  # what it is asked to watch
    seat: Name  # the kind of seat, and its model


class PlanRow(Value, frozen=True, kw_only=True):
    """One planned round."""

    round: Round  # its number
    absent: Role | None = None  # the role that is left out on purpose
    drift: bool = False  # with a drift check
    phases: tuple[Name, ...]  # in order
    focus: Prose | None = None  # what the round is about


class Prediction(Value, frozen=True, kw_only=True):
    """What is expected to be missing while a role is absent (SD-75)."""

    role: Role  # who will be absent
    code: SignatureCode  # what will be missing
    text: Prose  # in words


class StopRule(Value, frozen=True, kw_only=True):
    """When the run looks at the stop signals, and from which round on it obeys them (FORMAT 9)."""

    profile: Profile  # which signals, by which arithmetic
    params: Hash  # SHA-256 of the parameter file
    check_every: Positive  # rounds between two looks
    not_before: Round  # first round in which a stop is obeyed


class Budgets(Value, frozen=True, kw_only=True):
    """Limits of a run; null for no limit. Dollars are a decimal string."""

    usd: Decimal | None = None  # US dollars
    tokens: Nat | None = None  # in and out
    calls: Nat | None = None  # calls that the engine makes
    minutes: Nat | None = None  # on the clock, while a driver drives the run
    rounds: Nat | None = None  # rounds


class Origin(Value, frozen=True, kw_only=True):
    """Where a ledger comes from."""

    type: Literal["new", "import", "fork", "redaction", "converted"]  # how the ledger came about
    of: Short | None = None  # name of the run or file that it comes from
    head: Hash | None = None  # hash of the last line taken over
    seq: Nat | None = None  # number of the last event taken over
    tool: Name | None = None  # what made it


class Waiver(Value, frozen=True, kw_only=True):
    """A safeguard that was given up, and why."""

    what: Name  # the safeguard
    why: Prose  # the reason that was given


class Signature(Value, frozen=True, kw_only=True):
    """One predicted effect of an absence."""

    code: SignatureCode  # what will be missing
    text: Prose  # in words


class FindingCount(Value, frozen=True, kw_only=True):
    """Findings that a role's artifact listed, and those linked to no claim (imports only)."""

    role: Role  # whose artifact
    listed: Nat  # findings in it
    unlinked: Nat  # findings without a claim


class Change(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """One value that an amendment changes."""

    path: Short  # plan.6.absent, budgets.usd, blobs/…, @12
    from_: Scalar  # the value before
    to: Scalar  # the value now


class RunOpened(Envelope, frozen=True, kw_only=True):
    """The whole resolved set-up of a run: seq 0, and again where a fork parts (SD-20, SD-23 … SD-26)."""

    kind: Literal["run_opened"] = "run_opened"
    protocol: Name  # its name
    question: Long  # what is asked
    domain: Prose | None = None  # what it is about, for the words of roles
    goals: tuple[Labelled, ...]  # what the answer must serve
    options: tuple[Labelled, ...] = ()  # what can be chosen; empty when it is open
    context: tuple[ContextDocument, ...] = ()  # documents under discussion
    cast: tuple[CastMember, ...]  # roles in the order of the protocol
    plan: tuple[PlanRow, ...]  # rounds as planned; amendments change it
    predict: tuple[Prediction, ...] = ()  # what absences are expected to show
    stop: StopRule  # when to stop
    budgets: Budgets  # hard limits
    prompt_set: Hash  # blob of the templates
    seed: Nat  # of every choice by chance
    rules: dict[str, Scalar]  # settings of the protocol
    origin: Origin  # where the ledger comes from
    moot: Name  # version that opened it
    waived: tuple[Waiver, ...] = ()  # safeguards that were given up


class RoundOpened(Envelope, frozen=True, kw_only=True):
    """A round begins: who leads, who is absent, which checks apply (SD-52, SD-75)."""

    kind: Literal["round_opened"] = "round_opened"
    lead: Role | None = None  # who proposes and decides
    focus: Long  # what the round is about
    absent: Role | None = None  # the role that is left out
    planned_stress: Role | None = None  # the role whose absence was planned from the start
    applicable: tuple[CheckId, ...] = ()  # checks that can be made
    predicted_signature: tuple[Signature, ...] | None = None  # what the absence is expected to show
    findings: tuple[FindingCount, ...] | None = None  # findings by role (imports only)
    plan_row: Nat  # row of the plan, from 0
    cause: Nat | None = None  # seq of the amendment or look that brought it about


class Amendment(Envelope, frozen=True, kw_only=True):
    """A recorded change of the set-up, with its cause (SD-78 … SD-86)."""

    kind: Literal["amendment"] = "amendment"
    # which part of the set-up
    what: Literal["plan", "focus", "charter", "reply_rule", "budget", "seat", "redaction", "note", "waiver"]
    change: tuple[Change, ...] = ()  # value by value
    cause: Nat | Name  # seq of what brought it about, or a word
    reason: Prose  # why
    name: Name | None = None  # the person, if a person did it


class RunClosed(Envelope, frozen=True, kw_only=True):
    """The run ends, or stops and can go on (SD-73, SD-85)."""

    kind: Literal["run_closed"] = "run_closed"
    state: Literal["finished", "stopped"]  # a stopped run can go on
    reason: CloseReason  # why
    outcome: tuple[Id, ...] = ()  # final decisions in force
    open: tuple[Id, ...] = ()  # questions that stay open
    quorum: Quorum  # steps asked for and answered
    through: Nat  # last seq that was read


class Fallback(Envelope, frozen=True, kw_only=True):
    """A seat failed for good, and what the run does instead (AD-8, S4-7)."""

    kind: Literal["fallback"] = "fallback"
    role: Role  # whose seat
    step_failed: Name  # the step that has no reply
    # what went wrong
    reason: Literal["timeout", "refused", "truncated", "malformed", "unavailable", "budget", "given_up"]
    detail: Prose  # in words
    # what the run does without it
    instead: Literal["skipped", "unclear", "refuse", "survivor_only", "raw_side_by_side"]
    quorum: Quorum  # seats of the group, asked and answering
