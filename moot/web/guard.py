"""Who is answered: this machine's own browser, asking for itself. Everybody else is refused before a page is made.

A page of another site must not read a deliberation through a visitor's browser. It cannot name another host (DNS
rebinding), cannot ask across origins, and cannot put a page of ours into a frame. On any address but loopback a token
is needed too. Nothing here writes, so only GET and HEAD are answered at all.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
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
"""Headers of every answer."""
LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True, slots=True)
class Address:
    """Where the viewer listens; `token` is set for every host that is not loopback."""

    host: str
    port: int
    token: str | None = None

    def answers_to(self, host: str) -> bool:
        """Whether a Host header names this viewer: a name that only DNS knows never does on loopback."""
        name, port = split_host(host)
        if port != self.port:
            return False
        if self.token is None:
            return name in LOOPBACK_NAMES
        return name in LOOPBACK_NAMES or name == self.host.lower() or _is_address(name)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def split_host(host: str) -> tuple[str, int]:
    """`127.0.0.1:8710` in its parts; the port that is not said is 80."""
    name, colon, port = host.rpartition(":")
    if not colon or name.endswith(":") or (host.startswith("[") and host.endswith("]")):
        return host.lower(), 80
    return name.lower(), int(port) if port.isascii() and port.isdigit() and len(port) < 6 else -1


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """The application behind the checks; every answer carries the security headers."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app, self._address = app, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a web socket is never opened: uvicorn answers 403 itself
        refused = self._refused(scope)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await (refused or self._app)(scope, receive, guarded)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._address.answers_to(hosts[0]):
            return _refusal(421, "this viewer answers to its own address only")
        if scope["method"] not in ("GET", "HEAD"):
            return _refusal(405, "this viewer only shows; it takes nothing")
        if not _from_here(headers, hosts[0]):
            return _refusal(403, "another site asked for this: open the address yourself")
        return None if self._address.token is None else self._without_token(scope, headers)

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """A first visit brings the token in its address and gets a cookie instead."""
        wanted = self._address.token or ""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token")
        if given is not None and _same(given, wanted):
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            answer = RedirectResponse(_path(scope) + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(COOKIE, wanted, httponly=True, samesite="strict", path="/")
            return answer
        if _same(_cookie(headers), wanted):
            return None
        return _refusal(401, "this viewer needs its token: open the address that `moot serve` printed")


def _path(scope: Scope) -> str:
    """The path as it was asked for; never one that a browser takes for another host."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return "/" + raw.decode("latin-1").partition("?")[0].lstrip("/\\")


def _from_here(headers: Headers, host: str) -> bool:
    """No other origin asks: by the Origin header, and by what browsers say of every request."""
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in (f"http://{host.lower()}",):
        return False
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _refusal(status: int, why: str) -> PlainTextResponse:
    return PlainTextResponse(f"moot: {why}\n", status)
