"""The viewer: a table of addresses, each with its page, and the process that serves them until Ctrl-C.

It has one port, and an address with a token when others can reach it.

The number of connections is limited, and so is the time for sending a request and for taking the answer. uvicorn waits
for the head of a request for as long as bytes come, and accepts as many connections as there are file descriptors.
Without descriptors the event loop retries and logs without pause. Here connections alone never use up the descriptors,
and errors of the event loop are printed at most once a minute.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import math
import os
import resource
import secrets
import socket
import threading
import time
from collections.abc import AsyncGenerator, Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Lifespan
from uvicorn.protocols.http.h11_impl import H11Protocol

from ledger.store.failures import LedgerError
from moot.app.unlawful_runs import explain_with
from moot.errors import MootError, one_line
from moot.terminal.streams import err
from moot.web import pages
from moot.web.guard import Address, Guard, is_loopback
from moot.web.live import Broadcasts, stream
from moot.web.pages import PageMissing
from moot.web.report import policy
from moot.web.run_index import RunIndex
from moot.web.templating import compiled, render
from roles.protocol import UNLAWFUL

Page = Callable[[RunIndex, Request], str]

PAGES: Final[tuple[tuple[str, Page], ...]] = (
    ("/", pages.runs),
    ("/compare", pages.compare),
    ("/run/{name}", pages.overview),
    ("/run/{name}/live", pages.live),
    ("/run/{name}/rounds", pages.rounds),
    ("/run/{name}/rounds/{number:int}", pages.round_),
    ("/run/{name}/claims", pages.claims),
    ("/run/{name}/decisions", pages.decisions),
    ("/run/{name}/signals", pages.signals),
    ("/run/{name}/seats", pages.seats),
    ("/run/{name}/brief/{step}", pages.brief),
    ("/run/{name}/event/{identity}", pages.event),
    ("/run/{name}/card/{identity}", pages.card),
    ("/run/{name}/document/{identity}", pages.document),
    ("/run/{name}/log", pages.log),
    ("/run/{name}/check", pages.check),
    ("/run/{name}/report", pages.report),
)
OWN_POLICY: Final = {"content-security-policy": f"{policy()}; frame-ancestors 'none'"}
"""Policy of the report page: it may hold its own style, which the viewer's other pages may not."""
STATIC: Final = {"style.css": "text/css", "moot.js": "text/javascript", "icon.svg": "image/svg+xml"}


def create_app(
    index: RunIndex,
    address: Address,
    lifespan: Lifespan[Starlette] | None = None,
) -> ASGIApp:
    """Return the application behind its guard; `lifespan` is entered when the server is up."""
    complain = Complaints()

    async def failed(request: Request, error: Exception) -> Response:
        complain(None, {"message": f"the page {request.url.path} failed", "exception": error})
        what = "moot failed on this page; the terminal that serves it says how"
        return _trouble(500, "A fault of moot", what)

    routes = [Route(path, partial(_answer, index, page), methods=["GET"]) for path, page in PAGES]
    routes += [
        Route("/run/{name}/stream", partial(stream, Broadcasts(index, limits().viewers)), methods=["GET"]),
        Route("/static/{file}", _static, methods=["GET"]),
    ]
    faults = {404: _not_found, Exception: failed}
    return Guard(Starlette(routes=routes, exception_handlers=faults, lifespan=lifespan), address)


def _answer(index: RunIndex, page: Page, request: Request) -> Response:
    """Render a page. No coroutine, so that starlette calls it in a thread and a long page does not block the others."""
    try:
        html = page(index, request)
        return HTMLResponse(html, headers=OWN_POLICY if page is pages.report else None)
    except PageMissing as error:
        return _trouble(404, "Not here", str(error))
    # A view may fail in many ways on a ledger that breaks its rules. The fault is the run's, so it gets a page that
    # says so instead of a 500.
    except (LedgerError, *UNLAWFUL) as error:
        places = index.places()
        # The runs that the address names.
        names = {
            request.path_params.get("name"),
            request.query_params.get("a"),
            request.query_params.get("b"),
        }
        known = explain_with(error, [places[name] for name in places if name in names])
        if known is None:
            raise
        return _trouble(409, "This run cannot be shown", f"{known.what} ({known.where})", known.fix)


async def _not_found(_: Request, __: Exception) -> Response:
    return _trouble(404, "Not here", "there is no such page")


def _trouble(status: int, title: str, what: str, fix: str = "") -> Response:
    return HTMLResponse(render("trouble.html", title=title, what=what, fix=fix), status)


async def _static(request: Request) -> Response:
    name = request.path_params["file"]
    # A fixed table and no directory: no path in an address can lead to another file.
    if name not in STATIC:
        return await _not_found(request, KeyError(name))
    content = files("moot.web").joinpath("static", name).read_bytes()
    # `no-cache`, because the files change with moot's version and have no hash in their names.
    return Response(content, media_type=STATIC[name], headers={"cache-control": "no-cache"})


PORT: Final = 8710
PORTS_TRIED: Final = 20
TOKEN_BYTES: Final = 24
NICE: Final = 10
"""Niceness of the viewer: a deliberation on the same machine comes first."""
HEAD_SECONDS: Final = 10.0
"""Time from the start of a connection, or the end of a response, to the end of the next request."""
STALL_SECONDS: Final = 30.0
"""Time that a response may wait for a client that reads nothing."""
SEND_BYTES: Final = 65_536
CONNECTIONS_MAX: Final = 600
"""Most connections; fewer where the system allows fewer open files. Live viewers may take two thirds of them."""
BACKLOG_MAX: Final = 64
"""Most connections that are accepted at once, before any of them is counted."""
COMPLAINT_SECONDS: Final = 60.0
COMPLAINT_LENGTH_MAX: Final = 300

_NO_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE})
_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\n\r\n"
_LATE: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n"


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens on `port`, or on the first free one from 8710 on. Raises `MootError`."""
    last = PORT + PORTS_TRIED - 1 if port is None else port
    for candidate in range(PORT if port is None else port, last + 1):
        try:
            family, *_, where = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0]
            listening = socket.create_server(
                where,
                family=family,
                backlog=limits().backlog,
                # Without it `::` would not be reached by IPv4.
                dualstack_ipv6=family == socket.AF_INET6 and socket.has_dualstack_ipv6(),
            )
        # A name that DNS cannot hold (an empty or long label, a null byte) is a `ValueError`.
        except (OSError, ValueError) as error:
            number = getattr(error, "errno", 0)
            if number == errno.EADDRINUSE and candidate < last:
                continue
            # Python adds the address, which the error names anyway.
            reason = (getattr(error, "strerror", None) or "not a host name").partition(" (while")[0].lower()
            fix = (
                "name another port with --port"
                if number in (errno.EADDRINUSE, errno.EACCES)
                else "name an address of this machine with --host"
            )
            raise MootError(
                "cannot_listen", f"cannot listen: {reason}", f"{host}:{candidate}", fix
            ) from error
        # In a larger buffer of the kernel a slow client could take for long without a change that is seen here.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
        listening.setblocking(False)
        return listening
    raise AssertionError("the last port is refused or returned")


def address_of(host: str, listening: socket.socket) -> Address:
    """Return the address of a socket; every host that is not loopback gets a new token."""
    port: int = listening.getsockname()[1]
    return Address(host, port, None if is_loopback(host) else secrets.token_urlsafe(TOKEN_BYTES))


def url_of(address: Address) -> str:
    """Return the URL for a browser."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    # These mean "every interface", which no browser can open.
    host = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)
    return f"http://{host}:{address.port}/" + (f"?token={address.token}" if address.token else "")


def serve(root: Path, address: Address, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Answer requests until the process is interrupted; call `ready` once it does."""
    index = RunIndex(root)
    with contextlib.suppress(OSError):
        os.nice(NICE)
    # Before the first thread starts, so that no two requests compile the same template.
    compiled()
    # The runs are read before the first request, which meanwhile waits only for its own run. A daemon: an end by
    # Ctrl-C must not wait for a long run to be read.
    threading.Thread(target=index.lines, daemon=True).start()

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        asyncio.get_running_loop().set_exception_handler(Complaints())
        ready()
        yield

    config = uvicorn.Config(
        create_app(index, address, lifespan),
        # `Complaints` reports errors instead, at a limited rate: those of pages in `create_app`, the loop's above.
        log_level="critical",
        access_log=False,
        lifespan="on",
        ws="none",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
        http=Connection,
        backlog=limits().backlog,
        h11_max_incomplete_event_size=32_768,
    )
    uvicorn.Server(config).run(sockets=[listening])


class ConnectionLimits(NamedTuple):
    """Limits of open and of waiting connections; `viewers` of the open ones may be live pages."""

    connections: int
    backlog: int
    viewers: int


def limits() -> ConnectionLimits:
    """Return the limits under the system's limit of open files, of which pages and runs need half."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = 1 << 20 if allowed == resource.RLIM_INFINITY else allowed
    # Connections that wait to be accepted need descriptors as well.
    backlog = max(1, min(BACKLOG_MAX, most // 8))
    connections = max(1, min(CONNECTIONS_MAX, most // 2 - backlog))
    return ConnectionLimits(connections, backlog, max(1, connections * 2 // 3))


class Connection(H11Protocol):
    """A connection that is closed when it stays idle or stalls."""

    _late: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for a request; refuse the connection when there are too many."""
        super().connection_made(transport)
        # The new connection is counted already, so the limit itself is still allowed.
        if len(self.connections) > limits().connections:
            transport.write(_FULL)
            transport.close()
            return
        self._look()

    def data_received(self, data: bytes) -> None:
        """Handle incoming bytes."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Start waiting for the next request."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers."""
        self._stop_the_clocks(self._late, self._stalled)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Watch a client that takes its time."""
        super().pause_writing()
        self._let_go_if_stalled(math.inf)

    def resume_writing(self) -> None:
        """Stop the timer: nearly all is taken."""
        self._stop_the_clocks(self._stalled)
        super().resume_writing()

    def _let_go_if_stalled(self, before: float) -> None:
        """End the connection when its client took nothing since `before` bytes were left; else look again later."""
        # A page is one write, which asyncio reports only when nearly all of it is taken.
        left = self.transport.get_write_buffer_size()
        if left < before:
            self._stalled = self.loop.call_later(STALL_SECONDS, self._let_go_if_stalled, left)
        else:
            # `abort` and not `close`: closing waits for bytes that the client does not take.
            self.transport.abort()

    def _look(self) -> None:
        """Run the timer while the client owes a request; bytes that trickle in do not restart it."""
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
        # In the middle of a response, a 408 would be taken for a part of it.
        if self.conn.our_state is h11.IDLE:
            self.transport.write(_LATE)
        self.transport.close()


class Complaints:
    """Rate-limited log of the event loop's errors on stderr."""

    def __init__(self) -> None:
        self._next, self._unsaid = 0.0, 0

    def __call__(self, _: object, context: dict[str, Any]) -> None:
        """Print what happened, or count it."""
        # Counted and not dropped, so that the next line tells how much was left out.
        if time.monotonic() < self._next:
            self._unsaid += 1
            return
        error = context.get("exception")
        what = one_line(f"{context.get('message', 'something failed')}: {error!r}")[:COMPLAINT_LENGTH_MAX]
        more = f" ({self._unsaid} more since the last line)" if self._unsaid else ""
        fix = "; raise the limit of open files (ulimit -n)" if getattr(error, "errno", 0) in _NO_FILES else ""
        err(f"moot: {what}{more}{fix}\n")
        self._next, self._unsaid = time.monotonic() + COMPLAINT_SECONDS, 0
