"""The envelope: the fields that every event shares, in the order in which a line holds them (FORMAT 1)."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ledger.events.values import (
    GENESIS,
    ContextId,
    Decimal,
    Hash,
    Id,
    Instant,
    Name,
    Nat,
    Positive,
    Prose,
    Role,
    Round,
    Step,
    Value,
)

SeatKind = Annotated[str, Meta(max_length=32, pattern=r"^[a-z][a-z0-9_]{0,31}$(?!\n)")]
"""What answers: `anthropic`, `openai`, `command`, `human`, `host`, `tape`; a new provider may bring its own word."""
Isolation = Literal["enforced", "trusted"]
FROM_OUTSIDE: frozenset[SeatKind] = frozenset({"host", "human"})
"""Kinds of seat that the engine does not call: a host or a person answers, and pays (FORMAT 8)."""


class Context(Value, frozen=True, kw_only=True):
    """Which conversation answered: `fresh` and `continued` carry an opaque id (`c1`), an unnamed one neither."""

    mode: Literal["fresh", "continued"] | None  # fresh when the run had not seen this conversation before
    id: ContextId | None  # c1, c2, …; belongs to one role for the whole run


class Attempt(Value, frozen=True, kw_only=True):
    """One try at a reply. Token counts and latency are null when the seat does not know them."""

    n: Positive  # from 1
    brief: Hash  # blob of the manifest that was sent
    reply: Hash | None  # blob of what came back; null when nothing did
    error: Prose | None  # why the reply was refused or did not come
    stop_reason: Name | None  # what the provider says
    tokens_in: Nat | None  # all tokens sent, cached ones too
    tokens_out: Nat | None  # tokens that came back
    cost_usd: Decimal | None  # US dollars
    latency_ms: Nat | None  # milliseconds


class Call(Value, frozen=True, kw_only=True):
    """Who answered a step and at what cost; on the first event of a reply only."""

    seat: SeatKind  # the kind of seat
    provider: Name | None  # who serves the model
    model: Name | None  # the name of the model, as the seat gives it
    context: Context  # which conversation
    isolation: Isolation  # enforced: the seat got nothing but the brief
    prompt_set: Hash  # blob of the templates
    brief: Hash  # blob of the accepted attempt's manifest
    reply: Hash  # blob of the accepted reply
    attempts: tuple[Attempt, ...]  # in order, the last one is accepted
    tokens_in: Nat | None  # sum over the attempts
    tokens_cached: Nat | None  # of those, read from a prompt cache
    tokens_cache_write: Nat | None  # of those, written to a prompt cache
    tokens_out: Nat | None  # sum over the attempts
    cost_usd: Decimal | None  # US dollars, sum over the attempts
    latency_ms: Nat | None  # milliseconds, sum over the attempts
    stop_reason: Name | None  # of the accepted attempt
    simulated: Literal["recorded", "fake"] | None  # set when no live seat said it


class Envelope(Struct, frozen=True, kw_only=True, gc=False):
    """Base of all events. `prev`, `seq`, `rest`, `v` and `at` are set at the commit (`seal`)."""

    prev: Hash = GENESIS  # SHA-256 of the line before, in the order of seq
    seq: Nat = 0  # from 0, over all three streams
    rest: Nat = 0  # events of the same commit still to come
    v: Literal[3] = 3  # version of the format
    at: Instant = ""  # when it was committed, UTC; nothing is ordered by it
    kind: str = ""
    id: Id | None = None  # null for kinds that are cited as @seq
    round: Round  # 0 before the first round
    phase: Name  # open and close outside rounds
    step: Step | None = None  # null for acts outside a step
    by: Role  # a role, controller, human or import
    saw: tuple[Nat, ...] = ()  # seq of the events that the brief quotes, sorted
    call: Call | None = None  # on the first event of a reply only
    via: Nat | None = None  # on its other events: seq of the first

    @property
    def ref(self) -> str:
        """Return what cites the event: its id, or `@<seq>`."""
        return self.id or f"@{self.seq}"

    @property
    def kind_and_id(self) -> str:
        """Return its kind, with its id if it has one: `claim C-1-2`, `signals`."""
        return f"{self.kind} {self.id}" if self.id else self.kind


class Identified(Envelope, frozen=True, kw_only=True):
    """Base of the kinds that have an id."""

    # Of keyword-only fields, those with a default need not come last.
    id: Id  # pyright: ignore[reportGeneralTypeIssues]
