"""What a connection may cost: a time to say what it wants, a time to take what it gets, and a place among so many.

uvicorn waits for the head of a request for as long as bytes come, and accepts as many connections as there are file
descriptors; at their end the event loop tries and complains without pause. Here the descriptors never run out by
connections alone, and of complaints there is one line in a while.
"""

from __future__ import annotations

import asyncio
import errno
import resource
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from moot.errors import one_line

HEAD_SECONDS: Final = 10.0
"""From the opening of a connection, or the end of an answer, to the end of the next request, whatever trickles in."""
STALL_SECONDS: Final = 30.0
"""How long an answer may wait for somebody who takes nothing of it."""
CONNECTIONS_MAX: Final = 600
"""More than may look on live at once; fewer where the system allows fewer open files."""
BACKLOG_MAX: Final = 64
"""Connections that are taken from the system at one time, before any of them is counted."""
COMPLAINT_SECONDS: Final = 60.0
COMPLAINT_LENGTH_MAX: Final = 300

_NO_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE})
_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\n\r\n"
_LATE: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n"


class Limits(NamedTuple):
    """How many connections at once, and how many may wait to be taken."""

    connections: int
    backlog: int


def limits(files: int | None = None) -> Limits:
    """The limits under a limit of open files, of which pages and runs need half."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if files is None else files
    if allowed == resource.RLIM_INFINITY:
        return Limits(CONNECTIONS_MAX, BACKLOG_MAX)
    backlog = max(1, min(BACKLOG_MAX, allowed // 8))
    return Limits(max(1, min(CONNECTIONS_MAX, allowed // 2 - backlog)), backlog)


class Connection(H11Protocol):
    """A connection that is closed when it lets others wait."""

    _late: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head; with one too many say so and close."""
        super().connection_made(transport)
        if len(self.connections) > limits().connections:
            transport.write(_FULL)
            transport.close()
            return
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take bytes in."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Begin to wait for the next head."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_the_clocks(self._late, self._stalled)
        self._late = self._stalled = None
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The one who asked takes nothing."""
        super().pause_writing()
        self._stalled = self._stalled or self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It takes again."""
        self._stop_the_clocks(self._stalled)
        self._stalled = None
        super().resume_writing()

    def _look(self) -> None:
        """Hold the clock while the other side owes a request; bytes that come do not wind it up again."""
        owes = self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing()
        if not owes:
            self._stop_the_clocks(self._late)
            self._late = None
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self._too_late)

    @staticmethod
    def _stop_the_clocks(*clocks: asyncio.TimerHandle | None) -> None:
        for clock in clocks:
            if clock is not None:
                clock.cancel()

    def _too_late(self) -> None:
        self._late = None
        if self.conn.our_state is h11.IDLE:
            self.transport.write(_LATE)
        self.transport.close()


class Complaints:
    """What the event loop complains of, as one line in a while; `say` prints it."""

    def __init__(self, say: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._say, self._clock = say, clock
        self._next, self._unsaid = 0.0, 0

    def __call__(self, _: object, context: dict[str, Any]) -> None:
        """Say what happened, or count it."""
        if self._clock() < self._next:
            self._unsaid += 1
            return
        error = context.get("exception")
        what = one_line(f"{context.get('message', 'something failed')}: {error}")[:COMPLAINT_LENGTH_MAX]
        more = f" ({self._unsaid} more since the last line)" if self._unsaid else ""
        fix = "; raise the limit of open files (ulimit -n)" if getattr(error, "errno", 0) in _NO_FILES else ""
        self._say(f"moot: {what}{more}{fix}\n")
        self._next, self._unsaid = self._clock() + COMPLAINT_SECONDS, 0
