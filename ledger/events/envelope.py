"""The envelope: the fields that every event shares, in the order in which a line holds them (FORMAT 1)."""

from typing import Literal

from msgspec import Struct

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

SeatKind = Literal["anthropic", "tape", "command", "human", "host", "local"]
Version = Literal[1, 2]
"""Versions of the format: a run is of one from its first line to its last."""
Isolation = Literal["enforced", "trusted"]
FROM_OUTSIDE: frozenset[SeatKind] = frozenset({"host", "human"})
"""Kinds of seat that the engine does not call: somebody else answers, and pays (FORMAT 8)."""


class Context(Value, frozen=True, kw_only=True):
    """Which conversation answered: `fresh` and `continued` carry an opaque id (`c1`), an unnamed one neither."""

    mode: Literal["fresh", "continued"] | None
    id: ContextId | None


class Attempt(Value, frozen=True, kw_only=True):
    """One try at a reply. Token counts and latency are null when the seat does not know them."""

    n: Positive
    brief: Hash
    reply: Hash | None
    error: Prose | None
    stop_reason: Name | None
    tokens_in: Nat | None
    tokens_out: Nat | None
    cost_usd: Decimal | None
    latency_ms: Nat | None


class Call(Value, frozen=True, kw_only=True):
    """Who answered a step and at what cost; on the first event of a reply only."""

    seat: SeatKind
    provider: Name | None
    model: Name | None
    context: Context
    isolation: Isolation
    prompt_set: Hash
    brief: Hash
    reply: Hash
    attempts: tuple[Attempt, ...]
    tokens_in: Nat | None
    tokens_cached: Nat | None
    tokens_cache_write: Nat | None
    tokens_out: Nat | None
    cost_usd: Decimal | None
    latency_ms: Nat | None
    stop_reason: Name | None
    simulated: Literal["recorded", "fake"] | None


class Envelope(Struct, frozen=True, kw_only=True, gc=False):
    """Base of all events. `prev`, `seq`, `rest`, `v` and `at` are set at the commit (`ledger.format.chain.seal`)."""

    prev: Hash = GENESIS
    seq: Nat = 0
    rest: Nat = 0
    v: Version = 1
    at: Instant = ""
    kind: str = ""
    id: Id | None = None
    round: Round
    phase: Name
    step: Step | None = None
    by: Role
    saw: tuple[Nat, ...] = ()
    call: Call | None = None
    via: Nat | None = None
