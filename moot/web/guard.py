"""Access checks: only this machine's own browser is answered; other requests are refused before a page is rendered.

A page of another site must not read a deliberation through a visitor's browser. It cannot name another host (DNS
rebinding), cannot send requests across origins, and cannot frame a page of the viewer. On any address but loopback a
token is required too. The viewer only reads, so it answers only GET and HEAD.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE: Final = "moot_token"
SECURITY: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
"""Headers of every response."""


@dataclass(frozen=True, slots=True)
class Address:
    """Address that the viewer listens on; `token` is set for every host that is not loopback."""

    host: str
    port: int
    token: str | None = None

    def answers_to(self, host: str) -> bool:
        """Return whether a Host header names this viewer; on loopback, a name that needs DNS never does."""
        name, port = split_host(host)
        # On loopback only `localhost` and addresses count: with DNS rebinding, any other name can point to 127.0.0.1.
        is_ours = is_loopback(name)
        if self.token is not None:
            # An IP address cannot be rebound, so it is accepted on every interface.
            is_ours = is_ours or name == self.host.lower() or _address(name) is not None
        return is_ours and port == self.port


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host."""
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def split_host(host: str) -> tuple[str, int]:
    """Split `127.0.0.1:8710` into its parts; the default port is 80."""
    name, colon, port = host.rpartition(":")
    if not colon or name.endswith(":") or (host.startswith("[") and host.endswith("]")):
        return host.lower(), 80
    # -1 matches no port, so a malformed header is refused.
    return name.lower(), number_in(port, 5, -1)


def number_in(text: str, digits: int, default: int) -> int:
    """Return the number that a visitor wrote in at most so many digits, or `default`."""
    # `isdigit` alone accepts digits of other scripts, and a huge number would be slow to convert.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else default


class Guard:
    """The application behind the checks; every answer carries the security headers."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app, self._address = app, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request: refuse it, or pass it on and add the security headers to the answer."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a web socket is never opened: uvicorn answers 403 itself
        refused = self._refused(HTTPConnection(scope), scope["method"])

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
                # Deliberations stay out of the browser's disk cache, and a live run is never shown stale.
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await (refused or self._app)(scope, receive, guarded)

    def _refused(self, request: HTTPConnection, method: str) -> Response | None:
        hosts = request.headers.getlist("host")
        # Two Host headers could be read differently by a proxy in front and by this check.
        if len(hosts) != 1 or not self._address.answers_to(hosts[0]):
            return _refusal(421, "this viewer answers to its own address only")
        # No form of another site can change anything here, because nothing can be changed.
        if method not in ("GET", "HEAD"):
            return _refusal(405, "this viewer only shows; it takes nothing")
        if not _from_here(request.headers, hosts[0]):
            return _refusal(403, "another site asked for this: open the address yourself")
        return None if self._address.token is None else _without_token(request, self._address.token)


def _without_token(request: HTTPConnection, wanted: str) -> Response | None:
    """Exchange the token in the address of a first visit for a cookie.

    Return the redirect or the refusal; None when the cookie is already there.
    """
    token = request.query_params.get("token")
    if token is not None and _same(token, wanted):
        # The token leaves the address, because history, screenshots and copied links would carry it on.
        rest = urlencode([pair for pair in request.query_params.multi_items() if pair[0] != "token"])
        answer = RedirectResponse(_path(request.scope) + (f"?{rest}" if rest else ""), 303)
        # `strict`: a link on another site must not open a page with this visitor's token.
        answer.set_cookie(COOKIE, wanted, httponly=True, samesite="strict", path="/")
        return answer
    if _same(request.cookies.get(COOKIE, ""), wanted):
        return None
    return _refusal(401, "this viewer needs its token: open the address that `moot serve` printed")


def _path(scope: Scope) -> str:
    """Return the path of the request, changed so that a browser cannot take it for another host."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    # A redirect to `//evil.example` would leave this viewer, so leading slashes are removed.
    return "/" + raw.decode("latin-1").partition("?")[0].lstrip("/\\")


def _from_here(headers: Headers, host: str) -> bool:
    """Return whether the request has no other origin, by the Origin header and Sec-Fetch-Site."""
    ours = f"http://{host.lower()}"
    # Old browsers and curl send neither header, and count as direct visits.
    return headers.get("origin", ours).lower() == ours and (
        headers.get("sec-fetch-site", "none") in ("none", "same-origin")
    )


def _same(actual: str, wanted: str) -> bool:
    # Compared in constant time, so that a token cannot be found byte by byte.
    return hmac.compare_digest(actual.encode(), wanted.encode())


def _refusal(status: int, why: str) -> PlainTextResponse:
    return PlainTextResponse(f"moot: {why}\n", status)
