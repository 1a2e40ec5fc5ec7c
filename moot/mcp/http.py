"""The same server over HTTP, for hosts that reach it by an address: every request brings the server's own token.

    moot mcp --http            http://127.0.0.1:8720/mcp, and a line with the token
    Authorization: Bearer server.…

The token lets a client speak to the server; what it may do there is decided call by call, by the tokens of `rights`, as
over stdio. Names that only DNS knows, and pages of other sites, are refused before the token is looked at.
"""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from moot.mcp.rights import Rights, rights_in
from moot.mcp.server import build
from moot.web.guard import Address, is_loopback
from moot.web.server import url_of

PATH: Final = "/mcp"
PORT: Final = 8720
BODY_BYTES_MAX: Final = 1 << 24
SERVER: Final = "server"
"""Whose token it is."""
_NO_RUN: Final = "/"
"""The run that the token is of: none has such a name."""


def server_token(rights: Rights) -> str:
    """The token of the server over one directory of runs; the same after a restart."""
    return rights.token(_NO_RUN, SERVER)


class Door:
    """The application behind the checks of every request."""

    def __init__(self, app: ASGIApp, address: Address, token: str) -> None:
        self._app, self._address, self._token = app, address, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or let in."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        await (self._refused(Headers(scope=scope)) or self._app)(scope, receive, send)

    def _refused(self, headers: Headers) -> PlainTextResponse | None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._address.answers_to(hosts[0]):
            return PlainTextResponse("this server answers to its own address only\n", 421)
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return PlainTextResponse("another site asked for this\n", 403)
        said = headers.getlist("authorization")
        wanted = f"Bearer {self._token}".encode()
        if len(said) != 1 or not hmac.compare_digest(said[0].encode("utf-8", "surrogatepass"), wanted):
            words = "this server needs its token, which `moot mcp --http` printed: Authorization: Bearer server.…\n"
            return PlainTextResponse(words, 401, {"www-authenticate": 'Bearer realm="moot"'})
        return None


def serve(runs: Path, host: str, listening: socket.socket, ready: Callable[[str, str], None]) -> None:
    """Answer until somebody ends it; `ready` gets the address and the token once it does."""
    rights = rights_in(runs)
    token, address = server_token(rights), Address(host, listening.getsockname()[1])
    checked_here = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # `Door` has looked
    app = build(runs).streamable_http_app(
        streamable_http_path=PATH, max_request_body_size=BODY_BYTES_MAX, transport_security=checked_here
    )
    guarded = Address(host, address.port, None if is_loopback(host) else token)
    config = uvicorn.Config(
        Door(app, guarded, token),
        log_level="critical",
        access_log=False,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    ready(url_of(address, PATH), token)
    uvicorn.Server(config).run(sockets=[listening])
