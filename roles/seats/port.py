"""The port of a seat: a request with a brief goes in, one reply with what is known about it comes out.

A seat makes one attempt a call. Whether another is made, when, and whether there is money for it, the driver says.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

import msgspec

from ledger.events import Attempt
from ledger.events.envelope import Isolation, SeatKind
from ledger.redaction.masking import excerpt, masked
from roles.protocol import Step
from roles.seats.reply_text import reply_in
from roles.seats.server_words import UNPRINTABLE

if TYPE_CHECKING:  # a verb that only looks builds no briefs
    from roles.brief import Brief

WITHIN: Final[tuple[SeatKind, ...]] = ("tape", "host", "human")
"""Seats whose replies come from a recording or a person. All others may break, or give back a key they were sent."""
NAME_CHARACTERS_MAX: Final = 200
COUNT_MAX: Final = 10_000_000
"""Tokens of one request; a larger count is no count but a mistake of the server."""


def _unheard() -> None:
    """Nobody waits for the first byte."""


def _unread(_: str) -> None:
    """Nobody reads along."""


class Request(msgspec.Struct, frozen=True):
    """One attempt at a step; `attempt` counts from 1, the second one carries the repair brief.

    A seat that streams calls `began` at the first byte of the answer, and `words` with every piece of it as it comes.
    """

    step: Step
    brief: Brief
    attempt: int = 1
    began: Callable[[], None] = _unheard
    words: Callable[[str], object] = _unread


Ask = Callable[[Request], Awaitable[bytes | None]]
"""Shows the brief to a person and returns the reply's bytes; None when the person gives the step up."""


class SeatReply(msgspec.Struct, frozen=True):
    """What a seat returned; None is unknown. `attempts` is set only by a seat that plays recorded ones.

    `tokens_in` is the whole prompt, whatever of it was read from or written to a cache.
    """

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
    blobs: Mapping[str, bytes] = msgspec.field(default_factory=dict[str, bytes])
    """Blobs that recorded attempts refer to."""


def without_secrets(reply: SeatReply) -> SeatReply:
    """A reply from outside as it is kept. What is played from a recording, or handed in by a person, stays as it is."""
    if reply.seat in WITHIN:
        return reply
    return msgspec.structs.replace(
        reply,
        content=masked(reply.content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"),
        provider=named(reply.provider),
        model=named(reply.model),
        stop_reason=named(reply.stop_reason),
    )


def named(value: object) -> str | None:
    """Return a name that a server or a program gives, masked, printable and bounded; None for anything but text."""
    plain = UNPRINTABLE.sub(" ", value).strip() if isinstance(value, str) else ""
    return excerpt(plain, NAME_CHARACTERS_MAX) if plain else None


def counted(value: object) -> int | None:
    """Return a count that a server or a program gives; None for anything but a possible count."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COUNT_MAX:
        return value
    return None


class Bound(msgspec.Struct, frozen=True):
    """The most that one attempt can use. `usd` None: the price is unknown."""

    tokens: int
    usd: Decimal | None


class SeatFailed(Exception):
    """A seat failed for good on a step. `reason` is one of a fallback's; `fatal` ends the whole run (exit 5).

    `detail` is masked: it may be what a server or a program said. Whoever cuts it cuts what is masked (`excerpt`).
    `away`: no answer came at all; when nobody else answers either, the run ends and the step stays open.
    `gone`: the seat will be away at every later step, too, as with a wrong key.
    """

    def __init__(
        self, reason: str, detail: str, *, fatal: bool = False, away: bool = False, gone: bool = False
    ) -> None:
        self.reason, self.detail, self.fatal = reason, masked(detail), fatal
        super().__init__(self.detail)
        self.away, self.gone = away or gone, gone


class Used(msgspec.Struct, frozen=True):
    """What a lost attempt used, as far as it is known; None is unknown. A request that was refused used nothing."""

    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_cache_write: int | None = None
    tokens_out: int | None = None
    cost_usd: str | None = None
    latency_ms: int | None = None


class AttemptLost(SeatFailed):
    """One attempt brought no reply, and another may: after `wait_seconds` when the service named them.

    `overloaded`: everybody who asks this seat should slow down.
    """

    def __init__(
        self,
        reason: str,
        detail: str,
        used: Used,
        *,
        again: bool = True,
        gone: bool = False,
        wait_seconds: float | None = None,
        overloaded: bool = False,
    ) -> None:
        super().__init__(reason, detail, away=True, gone=gone)
        self.used, self.again = used, again
        self.wait_seconds, self.overloaded = wait_seconds, overloaded


class SeatWaits(Exception):
    """A seat that answers from outside (`host`): the step stays open until somebody submits."""


async def attempt(seat: Seat, request: Request) -> SeatReply:
    """Make one attempt at a step. Raises `SeatFailed` or `SeatWaits`, and nothing else that a seat outside may cause.

    This is the boundary around servers and programs: whatever they do must not end the run, because other seats are
    answering at the same time and their replies are paid for.
    """
    if seat.kind in WITHIN:
        return await seat.reply(request)
    try:
        reply = await seat.reply(request)
        return without_secrets(
            msgspec.structs.replace(reply, content=reply_in(reply.content, request.brief.schema))
        )
    except (SeatFailed, SeatWaits):
        raise
    except Exception as error:
        what = f"the seat broke down ({type(error).__name__}: {error})"
        raise AttemptLost("unavailable", excerpt(what, NAME_CHARACTERS_MAX), Used(), again=False) from error


class Seat(Protocol):
    """What fills a role."""

    kind: SeatKind

    async def reply(self, request: Request) -> SeatReply:
        """Answer one request. Raises `SeatFailed` (`AttemptLost` when another attempt may help) or `SeatWaits`."""
        ...


@runtime_checkable
class Declared(Protocol):
    """A seat whose kind does not tell what it is: a server of many families of models, a program by name."""

    declared: str
    """What the opening says of it."""


@runtime_checkable
class Metered(Protocol):
    """A seat whose attempts cost something: each is reserved before it is made."""

    caches: bool
    """Whether a second request with the same beginning is cheaper once the first one is being answered."""

    def bound(self, request: Request) -> Bound:
        """The most that this attempt can use."""
        ...


@runtime_checkable
class Checkable(Protocol):
    """A seat that can say before the first request that it will not answer."""

    def unready(self) -> str | None:
        """Return what is missing: a key, a program, a server that listens; None when the seat may answer."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A seat that holds connections."""

    async def close(self) -> None:
        """Let them go."""
        ...
