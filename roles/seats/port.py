"""The port of a seat: a request with a brief goes in, one reply with what is known about it comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ledger.events import Attempt
from ledger.events.envelope import Isolation, SeatKind
from roles.brief import Brief
from roles.protocol import Step


@dataclass(frozen=True, slots=True)
class Request:
    """One attempt at a step; `attempt` counts from 1, the second one carries the repair brief."""

    step: Step
    brief: Brief
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class SeatReply:
    """What a seat returned; None is unknown. `attempts` is set only by a seat that plays recorded ones."""

    content: bytes
    seat: SeatKind
    isolation: Isolation
    provider: str | None = None
    model: str | None = None
    context_id: str | None = None
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_cache_write: int | None = None
    tokens_out: int | None = None
    cost_usd: str | None = None
    latency_ms: int | None = None
    stop_reason: str | None = None
    simulated: str | None = None
    attempts: tuple[Attempt, ...] = ()
    blobs: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Blobs that recorded attempts refer to."""


class SeatFailed(Exception):
    """A seat failed for good on a step. `reason` is one of a fallback's; `fatal` ends the whole run (exit 5)."""

    def __init__(self, reason: str, detail: str, *, fatal: bool = False) -> None:
        super().__init__(detail)
        self.reason, self.detail, self.fatal = reason, detail, fatal


class SeatWaits(Exception):
    """A seat that answers from outside (`host`): the step stays open until somebody submits."""


class Seat(Protocol):
    """What fills a role."""

    kind: SeatKind

    async def reply(self, request: Request) -> SeatReply:
        """Answer one request. Raises `SeatFailed` or `SeatWaits`."""
        ...
