"""Port of a seat: it takes a request with a brief and returns one reply with its metadata.

A seat makes one attempt per call. The driver decides whether and when to try again, and whether the budget allows it.
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
"""Seats whose replies come from a recording or a person. All others may crash, or echo a key they were sent."""
NAME_CHARACTERS_MAX: Final = 200
COUNT_MAX: Final = 10_000_000
"""Largest plausible token count of one request; a larger one is a mistake of the server."""


class Request(msgspec.Struct, frozen=True):
    """One attempt at a step. `attempt` counts from 1; the second attempt carries the repair brief.

    A seat that streams calls `began` at the first byte of the answer and `words` with each piece as it arrives.
    """

    step: Step
    brief: Brief
    attempt: int = 1
    began: Callable[[], object] = lambda: None
    words: Callable[[str], object] = lambda _: None


Ask = Callable[[Request], Awaitable[bytes | None]]
"""Shows the brief to a person and returns the bytes of the reply; None when the person gives up the step."""


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """Known usage of an attempt; None is unknown. A refused request used nothing.

    `tokens_in` is the whole prompt, cached parts included.
    """

    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_cache_write: int | None = None
    tokens_out: int | None = None
    cost_usd: str | None = None
    latency_ms: int | None = None


class Answer(Used, frozen=True):
    """Facts that a seat reports with its reply; None means unknown.

    Only a seat that plays recorded attempts sets `attempts`.
    """

    seat: SeatKind
    isolation: Isolation
    provider: str | None = None
    model: str | None = None
    context_id: str | None = None
    stop_reason: str | None = None
    simulated: str | None = None
    attempts: tuple[Attempt, ...] = ()


class SeatReply(Answer, frozen=True, kw_only=True):
    """Reply of a seat with its facts."""

    content: bytes
    blobs: Mapping[str, bytes] = msgspec.field(default_factory=dict[str, bytes])
    """Blobs that recorded attempts refer to."""


def named(value: object) -> str | None:
    """Return a name from a server or a program, masked, printable and bounded; None for anything but text."""
    plain = UNPRINTABLE.sub(" ", value).strip() if isinstance(value, str) else ""
    return excerpt(plain, NAME_CHARACTERS_MAX) if plain else None


def counted(value: object) -> int | None:
    """Return a count from a server or a program; None for anything but a plausible count."""
    # `True` is an int in Python; some servers send it as a count.
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COUNT_MAX:
        return value
    return None


class Bound(msgspec.Struct, frozen=True):
    """Upper bound of what one attempt can use. `usd` is None when the price is unknown."""

    tokens: int
    usd: Decimal | None


class SeatFailed(Exception):
    """Final failure of a seat on a step. `reason` is a reason of a fallback; `fatal` ends the whole run (exit 5).

    `detail` is masked, because it may quote a server or a program; to shorten it, use `excerpt`.
    `away`: no answer came at all; if no other seat answers either, the run ends and the step stays open.
    `gone`: the seat will fail at every later step too, for example because of a wrong key.
    """

    def __init__(
        self, reason: str, detail: str, *, fatal: bool = False, away: bool = False, gone: bool = False
    ) -> None:
        self.reason, self.detail, self.fatal = reason, masked(detail), fatal
        super().__init__(self.detail)
        self.away, self.gone = away or gone, gone


class AttemptLost(SeatFailed):
    """Failure of one attempt, where another may succeed, after `wait_seconds` if the service gave a wait.

    `overloaded`: all requests to this seat should slow down.
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
    """Signal of a `host` seat: the step stays open until a reply is submitted."""


async def attempt(seat: Seat, request: Request) -> SeatReply:
    """Make one attempt at a step. Raises `SeatFailed` or `SeatWaits` for any failure of a server or a program."""
    # A recording must be played byte for byte, and what a person typed is that person's own.
    if seat.kind in WITHIN:
        return await seat.reply(request)
    try:
        reply = await seat.reply(request)
        # The reply need not be UTF-8: bytes that do not decode must come out unchanged, for validation to report.
        content = reply_in(reply.content, request.brief.schema).decode("utf-8", "surrogateescape")
        return msgspec.structs.replace(
            reply,
            content=masked(content).encode("utf-8", "surrogateescape"),
            provider=named(reply.provider),
            model=named(reply.model),
            stop_reason=named(reply.stop_reason),
        )
    except (SeatFailed, SeatWaits):
        raise
    except Exception as error:
        # This is the boundary around servers and programs. An unexpected error of one must not end the run, because
        # other seats are answering at the same time and their replies are paid for.
        what = f"the seat broke down ({type(error).__name__}: {error})"
        raise AttemptLost("unavailable", excerpt(what, NAME_CHARACTERS_MAX), Used(), again=False) from error


class Seat(Protocol):
    """Port that every seat implements."""

    kind: SeatKind

    async def reply(self, request: Request) -> SeatReply:
        """Answer one request. Raises `SeatFailed` (`AttemptLost` when another attempt may help) or `SeatWaits`."""
        ...


@runtime_checkable
class Declared(Protocol):
    """Seat whose kind does not identify it: a server of several model families, or a named program."""

    declared: str
    """Declaration of the seat in the opening."""


@runtime_checkable
class Metered(Protocol):
    """Seat whose attempts cost money; each is reserved before it is made."""

    caches: bool
    """Whether a second request with the same prefix is cheaper once the first one is being answered."""

    def bound(self, request: Request) -> Bound:
        """Return the most that this attempt can use."""
        ...


@runtime_checkable
class Checkable(Protocol):
    """Seat that can report before the first request that it will not answer."""

    def unready(self) -> str | None:
        """Return what is missing: a key, a program, a server that listens; None when the seat may answer."""
        ...


@runtime_checkable
class Closable(Protocol):
    """Seat that holds connections."""

    async def close(self) -> None:
        """Close the connections."""
        ...
