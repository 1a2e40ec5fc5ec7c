"""Read an error from a server: its message, a status, and the cause of a lost connection.

Servers that speak the same API format their errors in many ways:

    {"error": {"message": …, "type": …}}      OpenAI, Anthropic, vLLM
    {"error": "model not found"}              Ollama, LM Studio
    {"detail": [{"loc": …, "msg": …}]}        FastAPI
    <html><title>502 Bad Gateway</title>      a proxy in front of them
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, cast

from roles.seats.reachable import proxy_of

WORDS_CHARACTERS_MAX: Final = 600
DEPTH_MAX: Final = 6
STATUS_OF: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""HTTP status for the name of an error that arrives in the body of a response with status 200."""
UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_MEMBERS: Final = ("error", "detail", "message", "msg", "errors", "title", "reason", "description")
_TITLE: Final = re.compile(r"<(title|h1)[^>]*>\s*(.*?)\s*</\1>", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"<[^>]{0,500}>")


class Refusal(NamedTuple):
    """An error that a server sent instead of an answer. `status` is 0 when the error has none."""

    status: int
    kind: str
    words: str
    code: str = ""
    """A second, more specific name of the error."""


def words_in(body: object, depth: int = 0) -> str:
    """Return the message in an error body on one line, or an empty string."""
    return " ".join(UNPRINTABLE.sub(" ", _raw_words(body, depth)).split())[:WORDS_CHARACTERS_MAX]


def _raw_words(body: object, depth: int) -> str:
    # A hostile body may nest without end, and JSON in strings would be parsed again each time.
    if depth > DEPTH_MAX or body is None or isinstance(body, bool):
        return ""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return _of_text(body, depth)
    if isinstance(body, list | tuple):
        # A validation error may list hundreds of rows; three fit on the screen.
        rows = cast("list[object]", body)[:3]
        return "; ".join(words for row in rows if (words := words_in(row, depth + 1)))
    if isinstance(body, Mapping):
        fields = cast("Mapping[str, object]", body)
        words = next((words for name in _MEMBERS if (words := words_in(fields.get(name), depth + 1))), "")
        # FastAPI names the rejected field in `loc`, apart from the message.
        place = fields.get("loc")
        if words and isinstance(place, list | tuple):
            return f"{'.'.join(map(str, cast('list[object]', place)))}: {words}"
        return words
    return str(body) if isinstance(body, int | float) else ""


def _of_text(text: str, depth: int) -> str:
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            return words_in(json.loads(stripped), depth + 1) or stripped
        except (ValueError, RecursionError):
            return stripped
    # A proxy answers with a page; only its title helps, and markup must not reach the terminal.
    if stripped[:200].lower().startswith(("<!doctype", "<html", "<?xml", "<head", "<body")):
        title = _TITLE.search(stripped)
        return f"a web page: {_TAG.sub(' ', title[2])}" if title else "a web page"
    return stripped


def member(value: Any, name: str) -> Any:
    """Return a member of an SDK object or of plain JSON; None when it is missing."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value).get(name)
    return getattr(value, name, None)


def members_of(value: object) -> Mapping[str, Any]:
    """Return an object's members; an empty mapping for any other value."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def rows_of(value: object) -> list[Any]:
    """Return a list unchanged; an empty list for any other value."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def refusal_in(body: object) -> Refusal:
    """Return the refusal in an error body of any format, with its status if the body has one."""
    error: Any = member(body, "error")
    inner: Any = error or body
    kind, status, kinds = "", 0, list[str]()
    if isinstance(inner, Mapping):
        fields = cast("Mapping[str, object]", inner)
        # Servers disagree about which member holds the name and which the number of an error.
        named = [fields.get(name) for name in ("type", "code", "status", "status_code")]
        status = next((number for value in named if (number := _status(value))), 0)
        kinds = [word for value in named if (word := plain_kind(value))]
        kind = next(iter(kinds), "")
        status = status or next((STATUS_OF[word] for word in kinds if word in STATUS_OF), 0)
    return Refusal(status, kind, words_in(body), kinds[-1] if kinds else "")


def _status(value: object) -> int:
    # `True` is an int in Python, and some servers send the status as text.
    number = int(value) if isinstance(value, str) and re.fullmatch(r"[45]\d\d", value) else value
    return number if isinstance(number, int) and not isinstance(number, bool) and 400 <= number < 600 else 0


def plain_kind(value: object) -> str:
    """Return a service's name for an error, reduced to `a-z_`; empty when it is not text."""
    return re.sub(r"[^a-z_]", "", value)[:60] if isinstance(value, str) else ""


class Cause(NamedTuple):
    """Reason why a connection failed, with the fix, and whether another attempt may help.

    `if it answered`: retry only a server that answered before, because it may be restarting. A wrong key, certificate,
    proxy or address stays wrong.
    """

    words: str
    again: Literal["yes", "if it answered", "no"] = "no"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all its causes, each once."""
    pending, seen = [error], set[int]()
    while pending:
        current = pending.pop(0)
        # `__cause__` and `__context__` often point to the same error, and can form a cycle.
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            pending += cast("BaseExceptionGroup[BaseException]", current).exceptions
        pending += [cause for cause in (current.__cause__, current.__context__) if cause is not None]


def cause_of(error: BaseException, address: str, key_name: str) -> Cause:
    """Return why a connection to `address` failed; `key_name` is the variable that holds its key."""
    errors = list(_chain(error))
    words = " | ".join(f"{type(cause).__name__}: {cause}" for cause in errors)
    low = words.lower()
    # The order of these checks matters: libraries wrap one cause in another, so that a proxy's error also
    # mentions a connection, and the most specific cause comes first.
    if "socks" in low:
        what = "a SOCKS proxy is set (ALL_PROXY or HTTPS_PROXY), and the package for it is missing"
        return Cause(f"{what}: pip install socksio, or unset the proxy, or set NO_PROXY")
    # The key itself must not be printed, so the message names its variable.
    if any(isinstance(cause, UnicodeEncodeError) for cause in errors) or "illegal header value" in low:
        what = f"the key has a character that no header may hold: copy {key_name} again"
        return Cause(what)
    if "certificate_verify_failed" in low or "certificate verify failed" in low:
        what = f"cannot reach {address}: its TLS certificate is not trusted"
        fix = "set SSL_CERT_FILE to your organization's certificate file, or check the address"
        return Cause(f"{what}: {fix}")
    if any(isinstance(cause, FileNotFoundError | IsADirectoryError | PermissionError) for cause in errors):
        what = "a certificate file cannot be read: check SSL_CERT_FILE and SSL_CERT_DIR"
        return Cause(what)
    # A server that drops a TLS connection without a close notification raises an SSL error too. Unlike the other
    # SSL errors this one may not happen again, so it is checked first.
    is_cut = any(isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError) for cause in errors)
    if is_cut or "unexpected_eof" in low:
        return Cause(f"{address} closed the connection before the answer was whole", "yes")
    if any(isinstance(cause, ssl.SSLError) for cause in errors) or "ssl:" in low or "sslerror" in low:
        what = f"cannot reach {address}: TLS failed ({_last(errors)})"
        return Cause(f"{what}. Does the server speak http instead of https?")
    if "proxy" in low:
        what = f"cannot reach {address} through the proxy ({_last(errors)})"
        return Cause(f"{what}: check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY")
    if "unsupportedprotocol" in low or "invalidurl" in low or "unknown scheme" in low:
        what = f"{address or 'the address'} is not an address: write http://HOST:PORT/v1"
        return Cause(what)
    # With a proxy in the environment it is the proxy that refuses or is unknown, not the server.
    if (proxy := proxy_of(address)) and ("refused" in low or "gaierror" in low):
        what = f"cannot reach {address} through the proxy {proxy} ({_last(errors)})"
        return Cause(f"{what}: check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY", "if it answered")
    if any(isinstance(cause, ConnectionRefusedError) for cause in errors) or "refused" in low:
        what = f"cannot reach {address}: connection refused. Is the server running?"
        return Cause(what, "if it answered")
    if any(isinstance(cause, socket.gaierror) for cause in errors) or "name or service not known" in low:
        what = f"cannot reach {address}: unknown host. Check the address"
        return Cause(what, "yes" if "temporary failure" in low else "if it answered")
    # The network of this machine may come back within seconds, so another attempt may help.
    if "unreachable" in low:
        return Cause(f"cannot reach {address}: no route to the host. Check the network", "yes")
    if "disconnected" in low or "reset" in low or "peer closed" in low or "incomplete" in low:
        return Cause(f"{address} closed the connection before the answer was whole", "yes")
    return Cause(f"the connection to {address} failed ({_last(errors)})", "yes")


def _last(errors: list[BaseException]) -> str:
    """Return the message of the innermost cause that has one, else the name of its class."""
    for cause in reversed(errors):
        if str(cause).strip():
            return " ".join(str(cause).split())[:160]
    return type(errors[-1]).__name__
