"""Read what a server sends besides an answer: events, errors, a wait, and the cause of a lost connection.

Servers that speak the same API format their errors in many ways:

    {"error": {"message": …, "type": …}}      OpenAI, Anthropic, vLLM
    {"error": "model not found"}              Ollama, LM Studio
    {"detail": [{"loc": …, "msg": …}]}        FastAPI
    <html><title>502 Bad Gateway</title>      a proxy in front of them

Streams are read here, however their bytes are split: the readers of the SDKs fail on an event without data (`retry:
10`) and coerce values that should be counts (`true`, `"900"`).
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal, NamedTuple, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

SECONDS_MAX: Final = 3.0
PORTS: Final = {"http": 80, "https": 443}


def proxy_of(url: str) -> str | None:
    """Return the host and port of the proxy that the environment sets for an address; None without one."""
    try:
        parts = urlsplit(url)
        proxies = getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all")
        if not proxy or not parts.hostname or proxy_bypass(parts.hostname):
            return None
    # A malformed address has no proxy, and the caller reports it in its own words.
    except ValueError:
        return None
    # A proxy's address may contain a password, which must not be printed.
    return proxy.rpartition("@")[2].rpartition("://")[2].rstrip("/")


def unreachable(url: str) -> str | None:
    """Return why an address cannot be reached; None when a connection opens, or when a proxy is in between."""
    try:
        # Both lines raise `ValueError`: for a broken IPv6 address, and for a port that is no number.
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return f"{url} is not an address"
    if host is None or port is None:
        return f"{url} is not an address: write http://HOST:PORT/v1"
    # Behind a proxy the address need not be reachable from this machine, and only a request shows whether it answers.
    if proxy_of(url) is not None:
        return None
    try:
        socket.create_connection((host, port), SECONDS_MAX).close()
    except TimeoutError:
        return f"cannot reach {url}: no connection within {SECONDS_MAX:g} s"
    except OSError as error:
        return f"cannot reach {url}: {(error.strerror or str(error)).lower()}"
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the service asks to wait; None without a readable wait, and then the driver chooses."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", value):
            return float(value) * unit
    until = _instant(headers.get("retry-after", ""))
    if until is None:
        return None
    # The server's own clock made the date, so its Date header is the better start; without it ours has to do.
    start = _instant(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - start).total_seconds())


def _instant(value: str) -> datetime | None:
    try:
        instant = parsedate_to_datetime(value)
    # A server may send anything here; what is no date asks for no wait.
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


# A CR at the end of a piece may be the first half of a CR LF, so it is not a line end until the next piece arrives.
_LINE_END: Final = re.compile(rb"\r\n|\n|\r(?=[^\n])", re.DOTALL)
END: Final = b"[DONE]"
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


async def events_in(pieces: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    """Yield the JSON value of each event until `[DONE]`. Raises `ValueError` for data that is not JSON."""
    data: list[bytes] = []
    async for line in _lines_in(pieces):
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif not line and data:
            text, data = b"\n".join(data), []
            if text.strip() == END:
                return
            # Blank data carries nothing and would not parse as JSON.
            if text.strip():
                yield json.loads(text)


async def _lines_in(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    # Pieces of an unfinished line are joined once, because a line may be megabytes long.
    begun: list[bytes] = []
    is_first = True
    async for piece in pieces:
        begun.append(piece)
        # Two pieces are enough: a line end is at most two bytes, so it cannot span three pieces.
        if not _LINE_END.search(b"".join(begun[-2:])):
            continue
        *lines, rest = _LINE_END.split(b"".join(begun))
        begun = [rest]
        for line in lines:
            # The specification of server-sent events allows one byte order mark, at the very start.
            yield line.removeprefix(BYTE_ORDER_MARK) if is_first else line
            is_first = False
    # A server may close without the blank line that ends the last event, so one is added here.
    for line in (*b"".join(begun).splitlines(), b""):
        yield line


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


Again = Literal["yes", "if it answered", "no"]


class Cause(NamedTuple):
    """Reason why a connection failed, with the fix, and whether another attempt may help.

    `if it answered`: retry only a server that answered before, because it may be restarting. A wrong key, certificate,
    proxy or address stays wrong.
    """

    words: str
    again: Again = "no"


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


class _Known(NamedTuple):
    """Known cause: the errors and the words by which it is recognized, and what is said of it."""

    errors: tuple[type[BaseException], ...]
    needles: tuple[str, ...]
    words: str
    again: Again = "no"
    behind_proxy: bool = False


# The order matters: libraries wrap one cause in another, so that a proxy's error also mentions a connection,
# and the most specific cause comes first.
_CAUSES: Final = (
    _Known(
        (),
        ("socks",),
        "a SOCKS proxy is set (ALL_PROXY or HTTPS_PROXY), and the package for it is missing: "
        "pip install socksio, or unset the proxy, or set NO_PROXY",
    ),
    # The key itself must not be printed, so the message names its variable.
    _Known(
        (UnicodeEncodeError,),
        ("illegal header value",),
        "the key has a character that no header may hold: copy {key_name} again",
    ),
    _Known(
        (),
        ("certificate_verify_failed", "certificate verify failed"),
        "cannot reach {address}: its TLS certificate is not trusted: "
        "set SSL_CERT_FILE to your organization's certificate file, or check the address",
    ),
    _Known(
        (FileNotFoundError, IsADirectoryError, PermissionError),
        (),
        "a certificate file cannot be read: check SSL_CERT_FILE and SSL_CERT_DIR",
    ),
    # A server that drops a TLS connection without a close notification raises an SSL error too. Unlike the other SSL
    # errors this one may not happen again, so it is checked first.
    _Known(
        (ssl.SSLEOFError, ssl.SSLZeroReturnError),
        ("unexpected_eof",),
        "{address} closed the connection before the answer was whole",
        "yes",
    ),
    _Known(
        (ssl.SSLError,),
        ("ssl:", "sslerror"),
        "cannot reach {address}: TLS failed ({last}). Does the server speak http instead of https?",
    ),
    _Known(
        (),
        ("proxy",),
        "cannot reach {address} through the proxy ({last}): check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY",
    ),
    _Known(
        (),
        ("unsupportedprotocol", "invalidurl", "unknown scheme"),
        "{named} is not an address: write http://HOST:PORT/v1",
    ),
    # With a proxy in the environment it is the proxy that refuses or is unknown, not the server.
    _Known(
        (),
        ("refused", "gaierror"),
        "cannot reach {address} through the proxy {proxy} ({last}): check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY",
        "if it answered",
        behind_proxy=True,
    ),
    _Known(
        (ConnectionRefusedError,),
        ("refused",),
        "cannot reach {address}: connection refused. Is the server running?",
        "if it answered",
    ),
    _Known((), ("temporary failure",), "cannot reach {address}: unknown host. Check the address", "yes"),
    _Known(
        (socket.gaierror,),
        ("name or service not known",),
        "cannot reach {address}: unknown host. Check the address",
        "if it answered",
    ),
    # The network of this machine may come back within seconds, so another attempt may help.
    _Known((), ("unreachable",), "cannot reach {address}: no route to the host. Check the network", "yes"),
    _Known(
        (),
        ("disconnected", "reset", "peer closed", "incomplete"),
        "{address} closed the connection before the answer was whole",
        "yes",
    ),
    _Known((BaseException,), (), "the connection to {address} failed ({last})", "yes"),
)


def cause_of(error: BaseException, address: str, key_name: str) -> Cause:
    """Return why a connection to `address` failed; `key_name` is the variable that holds its key."""
    errors = list(_chain(error))
    low = " | ".join(f"{type(cause).__name__}: {cause}" for cause in errors).lower()
    proxy = proxy_of(address)
    known = next(
        known
        for known in _CAUSES
        if (
            any(isinstance(cause, known.errors) for cause in errors)
            or any(word in low for word in known.needles)
        )
        and (proxy or not known.behind_proxy)
    )
    words = known.words.format(
        address=address,
        named=address or "the address",
        key_name=key_name,
        proxy=proxy,
        last=_last(errors),
    )
    return Cause(words, known.again)


def _last(errors: list[BaseException]) -> str:
    """Return the message of the innermost cause that has one, else the name of its class."""
    for cause in reversed(errors):
        if str(cause).strip():
            return " ".join(str(cause).split())[:160]
    return type(errors[-1]).__name__
