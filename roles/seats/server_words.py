"""Read what a server says when it does not answer: its own words, a status, and the cause of a lost connection.

Servers of one API word their refusals in many ways:

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
"""Status of an error that came in the body of an answer with status 200, by its name."""
UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_MEMBERS: Final = ("error", "detail", "message", "msg", "errors", "title", "reason", "description")
_TITLE: Final = re.compile(r"<(title|h1)[^>]*>\s*(.*?)\s*</\1>", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"<[^>]{0,500}>")


class Refusal(NamedTuple):
    """What a server said instead of an answer. `status` 0: it named none."""

    status: int
    kind: str
    words: str
    code: str = ""
    """A second name of the error, more exact than its kind."""


def words_in(body: object, depth: int = 0) -> str:
    """Return the sentence that an error body holds, on one line; empty when there is none."""
    return " ".join(UNPRINTABLE.sub(" ", _raw_words(body, depth)).split())[:WORDS_CHARACTERS_MAX]


def _raw_words(body: object, depth: int) -> str:
    if depth > DEPTH_MAX or body is None or isinstance(body, bool):
        return ""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return _of_text(body, depth)
    if isinstance(body, list | tuple):
        rows = cast("list[object]", body)[:3]
        return "; ".join(words for row in rows if (words := words_in(row, depth + 1)))
    if isinstance(body, Mapping):
        fields = cast("Mapping[str, object]", body)
        words = next((words for name in _MEMBERS if (words := words_in(fields.get(name), depth + 1))), "")
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
    if stripped[:200].lower().startswith(("<!doctype", "<html", "<?xml", "<head", "<body")):
        title = _TITLE.search(stripped)
        return f"a web page: {_TAG.sub(' ', title[2])}" if title else "a web page"
    return stripped


def member(value: Any, name: str) -> Any:
    """Return a member of an object of an SDK or of plain JSON; None where there is none."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value).get(name)
    return getattr(value, name, None)


def members_of(value: object) -> Mapping[str, Any]:
    """Return an object's members; of anything else none."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def rows_of(value: object) -> list[Any]:
    """Return the rows of a list; of anything else none."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def refusal_in(body: object) -> Refusal:
    """Return the refusal that a body of any form holds, its status as far as it names one."""
    error: Any = member(body, "error")
    inner: Any = error or body
    kind, status, kinds = "", 0, list[str]()
    if isinstance(inner, Mapping):
        fields = cast("Mapping[str, object]", inner)
        named = [fields.get(name) for name in ("type", "code", "status", "status_code")]
        status = next((number for value in named if (number := _status(value))), 0)
        kinds = [word for value in named if (word := plain_kind(value))]
        kind = next(iter(kinds), "")
        status = status or next((STATUS_OF[word] for word in kinds if word in STATUS_OF), 0)
    return Refusal(status, kind, words_in(body), kinds[-1] if kinds else "")


def _status(value: object) -> int:
    number = int(value) if isinstance(value, str) and re.fullmatch(r"[45]\d\d", value) else value
    return number if isinstance(number, int) and not isinstance(number, bool) and 400 <= number < 600 else 0


def plain_kind(value: object) -> str:
    """Return what a service calls an error, as a plain word; empty when it does not say."""
    return re.sub(r"[^a-z_]", "", value)[:60] if isinstance(value, str) else ""


class Cause(NamedTuple):
    """Why no connection came about, with the fix, and whether another attempt may help.

    `if it answered`: only at a server that answered before, which may be restarting. A wrong key, certificate, proxy or
    address stays wrong.
    """

    words: str
    again: Literal["yes", "if it answered", "no"] = "no"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and everything that caused it."""
    pending, seen = [error], set[int]()
    while pending:
        current = pending.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            pending += cast("BaseExceptionGroup[BaseException]", current).exceptions
        pending += [cause for cause in (current.__cause__, current.__context__) if cause is not None]


def cause_of(error: BaseException, address: str, key_name: str) -> Cause:
    """Return why nothing could be sent to `address`; `key_name` is where its key is kept."""
    errors = list(_chain(error))
    words = " | ".join(f"{type(cause).__name__}: {cause}" for cause in errors)
    low = words.lower()
    if "socks" in low:
        what = "a SOCKS proxy is set (ALL_PROXY or HTTPS_PROXY), and the package for it is missing"
        return Cause(f"{what}: pip install socksio, or unset the proxy, or set NO_PROXY")
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
    # A connection that ends without a goodbye is an error of TLS, too, and yet another one may come about.
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
    if any(isinstance(cause, ConnectionRefusedError) for cause in errors) or "refused" in low:
        what = f"cannot reach {address}: connection refused. Is the server running?"
        return Cause(what, "if it answered")
    if any(isinstance(cause, socket.gaierror) for cause in errors) or "name or service not known" in low:
        what = f"cannot reach {address}: unknown host. Check the address"
        return Cause(what, "yes" if "temporary failure" in low else "if it answered")
    if "unreachable" in low:
        return Cause(f"cannot reach {address}: no route to the host. Check the network", "yes")
    if "disconnected" in low or "reset" in low or "peer closed" in low or "incomplete" in low:
        return Cause(f"{address} closed the connection before the answer was whole", "yes")
    return Cause(f"the connection to {address} failed ({_last(errors)})", "yes")


def _last(errors: list[BaseException]) -> str:
    """Return the words of the innermost cause that has any, else its name."""
    for cause in reversed(errors):
        if str(cause).strip():
            return " ".join(str(cause).split())[:160]
    return type(errors[-1]).__name__
