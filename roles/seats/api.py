"""Base of the seats for models behind an HTTP API with an official SDK.

A seat makes one streamed attempt per call; the SDK retries nothing, because the driver does. Keys stay in the
environment or the SDK's own configuration, and server output is searched for them before it is kept. Everything that
differs between providers is abstract in `ApiSeat`, or part of the provider's row.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import import_module
from typing import Any, Final, NoReturn, cast

import msgspec

from ledger.events.envelope import SeatKind
from ledger.redaction.masking import masked
from roles.brief import Brief
from roles.seats.manner import REFUSES, Manner, without_refused
from roles.seats.port import AttemptLost, Bound, Request, SeatFailed, SeatReply, Used
from roles.seats.prices import Prices, Tokens
from roles.seats.registry import Provider
from roles.seats.server_words import (
    STATUS_OF,
    Refusal,
    cause_of,
    events_in,
    plain_kind,
    refusal_in,
    retry_after,
    unreachable,
)

OVERHEAD_TOKENS: Final = 2_000
"""Generous allowance for tokens that the service adds to a prompt."""
SECONDS_MAX: Final = 600.0
SECONDS_CONNECT_MAX: Final = 10.0
REPLY_CHARACTERS_MAX: Final = 1_000_000
"""Limit at which reading a reply stops."""
TOLD_CHARACTERS: Final = 300
AGAIN: Final = frozenset({408, 409, 429})
OVERLOADED: Final = frozenset({429, 503, 529})
FREE: Final = "0.000000"
FAILED: Final = "error"
"""Stop reason of an answer that the server itself abandoned."""
SIMULATED: Final = "moot-simulated"
"""Response header by which a fake server declares that no model made its replies (value `fake`)."""


@dataclass(slots=True)
class Heard:
    """State of a reply while it streams. `usage` uses the names of `Tokens`; later counts replace earlier ones."""

    began_s: float
    manner: Manner
    """Options of the request."""
    text: list[str] = field(default_factory=list[str])
    characters: int = 0
    usage: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    model: str | None = None
    stop_reason: str | None = None
    complete: bool = False
    final_usage: bool = False
    simulated: bool = False
    reported_usd: str | None = None
    """Cost of the reply as the service reports it."""

    def add(self, text: str, request: Request) -> None:
        """Append a piece of the reply; a reply over the limit counts as complete."""
        self.text.append(text)
        self.characters += len(text)
        request.words(text)
        if self.characters > REPLY_CHARACTERS_MAX:
            self.stop_reason, self.complete = "max_tokens", True


class ApiSeat(ABC):
    """Base of a seat for a model behind an API. Roles that share a seat share its connections, never a conversation."""

    kind: SeatKind
    caches: bool = True
    api: str
    """Name of the API in messages."""

    def __init__(
        self,
        model: str,
        row: Provider,
        *,
        prices: Prices,
    ) -> None:
        self.model, self.row, self.kind = model, row, row.seat
        self.gone = gone_of(row, model)
        self._prices = prices
        self._client: Any = None
        self._manner = Manner(row.forms, row.tokens_out_max, row.limits)
        self._has_answered = False

    @abstractmethod
    def _connected(self, sdk: Any) -> Any:
        """Return a client of the SDK that retries nothing."""

    @abstractmethod
    async def _asked(self, client: Any, brief: Brief, manner: Manner) -> Any:
        """Send the request and return the SDK's stream."""

    @abstractmethod
    def _take(self, event: Any, request: Request, heard: Heard) -> None:
        """Take one event of the stream. It may be any JSON value, so check the type of each member."""

    @abstractmethod
    def _take_whole(self, answer: Any, request: Request, heard: Heard) -> None:
        """Take a whole answer from a server that does not stream."""

    @abstractmethod
    def _texts(self, brief: Brief) -> list[str]:
        """Return all texts of a brief that are sent."""

    def _provider(self) -> str:
        """Return the provider's name for the ledger, never the name of a host."""
        return self.row.name

    def _keys(self) -> tuple[str, ...]:
        """Return the keys that were sent, so that they can be masked if a server echoes them."""
        return (self.row.key_value,)

    def _address(self) -> str:
        """Return the address of the server for messages."""
        return self.row.address

    async def _listen(self, client: Any, request: Request, heard: Heard) -> None:
        """Send the request and collect the answer in `heard`."""
        stream = await self._asked(client, request.brief, heard.manner)
        async with stream:
            heard.simulated = stream.response.headers.get(SIMULATED) == "fake"
            whole = await refuse_whole(stream.response)
            if whole is not None:
                self._take_whole(json.loads(whole), request, heard)
                return
            async for event in events_in(stream.response.aiter_bytes()):
                if heard.model is None:
                    # From here on siblings may hit the prefix cache, so the driver can release them.
                    request.began()
                self._take(event, request, heard)
                # Reading stops at our limit, whatever the server still has to say.
                if heard.characters > REPLY_CHARACTERS_MAX:
                    return

    def unready(self) -> str | None:
        """Return what is missing before the first request: a key, or a server that listens. Sends nothing."""
        try:
            client = self._ready_client(self._imported())
            return unreachable(str(client.base_url)) if self._has_key(client) else self.row.no_key
        except SeatFailed as failure:
            return failure.detail

    def _ready_client(self, sdk: Any) -> Any:
        """Return a client. Raises `SeatFailed` with the reason when the environment does not allow one."""
        try:
            return self._connected(sdk)
        except (self._base_error(sdk), TypeError) as error:
            what = f"{self.row.no_key} ({type(error).__name__})"
            raise SeatFailed("unavailable", what, gone=True) from None
        # httpx reads proxies and certificates of the environment when a client is built, and may fail on them.
        except (ImportError, OSError, ValueError) as error:
            cause = cause_of(error, self._address(), self.row.key_name)
            raise SeatFailed("unavailable", cause.words, gone=True) from None

    def _has_key(self, client: Any) -> bool:
        """Return whether the client has the key that its server needs, if it needs one."""
        return client is not None

    @property
    def is_free(self) -> bool:
        """Return whether a reply costs nothing, because the model runs on the user's own machine."""
        return self.row.is_free(self.model)

    @property
    def priced(self) -> bool:
        """Return whether the maximum cost of a reply is known before it is requested."""
        return self.is_free or self.model in self._prices.models

    def bound(self, request: Request) -> Bound:
        """Return the most that an attempt can use."""
        # A token is at least one byte, so the bytes of the prompt are an upper bound of its tokens.
        prompt = sum(len(text.encode()) for text in self._texts(request.brief)) + OVERHEAD_TOKENS
        usd = Decimal(0) if self.is_free else self._prices.bound(self.model, prompt, self.row.tokens_out_max)
        return Bound(prompt + self.row.tokens_out_max, usd)

    async def reply(self, request: Request) -> SeatReply:
        """Make one attempt. Raises `AttemptLost`, which holds the known usage."""
        sdk = self._imported()
        if self._client is None:
            self._client = self._ready_client(sdk)
        # The options are kept with the attempt, because a sibling's refusal may change those of the seat.
        heard = Heard(time.monotonic(), self._manner)
        try:
            await self._listen(self._client, request, heard)
        except Exception as error:  # noqa: BLE001  # `_fail` classifies each error by its type and always raises
            self._fail(sdk, error, heard)
        if heard.stop_reason == FAILED:
            raise AttemptLost("unavailable", "the server ended the answer with an error", self._used(heard))
        if not heard.complete:
            raise AttemptLost("unavailable", "the answer broke off", self._used(heard))
        self._has_answered = True
        return self._reply(heard)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _imported(self) -> Any:
        """Import the SDK. Raises `SeatFailed` with the package to install."""
        sdk = self.row.sdk
        assert sdk is not None, "models behind an API are asked by an SDK"
        try:
            # The import takes up to two seconds, so it happens only when the seat is used.
            return import_module(sdk.package)
        except ImportError:
            what = f"the {sdk.package} SDK is not installed: {sdk.fix}"
            raise SeatFailed("unavailable", what, gone=True) from None

    def _base_error(self, sdk: Any) -> type[Exception]:
        assert self.row.sdk is not None, "models behind an API are asked by an SDK"
        return cast("type[Exception]", getattr(sdk, self.row.sdk.error))

    def _fail(self, sdk: Any, error: Any, heard: Heard) -> NoReturn:
        """Raise the failure of an attempt for an error of the SDK."""
        import httpx2

        if isinstance(error, SeatFailed):
            raise error
        if isinstance(error, sdk.APIStatusError) and error.status_code >= 400:
            # Reading the text of an unread stream raises an error of its own.
            body = error.response.text if error.response.is_stream_consumed else error.body
            raise self._refused(refusal_of(error, body), heard, error.response.headers) from None
        if isinstance(error, sdk.APITimeoutError | httpx2.TimeoutException):
            raise AttemptLost("timeout", "no answer in time", self._used(heard)) from None
        if isinstance(
            error,
            sdk.APIConnectionError | httpx2.HTTPError | httpx2.InvalidURL | UnicodeEncodeError | OSError,
        ):
            cause = cause_of(error, self._address(), self.row.key_name)
            # A refused connection means a restart if the server answered before, and a wrong address if it never did.
            again = cause.again == "yes" or (cause.again == "if it answered" and self._has_answered)
            raise AttemptLost(
                "unavailable", self._scrubbed(cause.words), self._used(heard), again=again
            ) from None
        if isinstance(error, ServerRefused):
            raise self._refused(error.refusal, heard, {}, is_whole=error.is_whole) from None
        if (
            isinstance(error, TypeError | self._base_error(sdk))
            and not isinstance(error, sdk.APIError)
            and heard.model is None
        ):
            no_key = self.row.no_key
            # Without any key, the SDKs raise a plain `TypeError` while they build the headers.
            what = no_key if "authentication" in str(error) else f"{no_key} ({type(error).__name__})"
            raise SeatFailed("unavailable", what, gone=True) from None
        what = f"the answer is not of {self.api} ({type(error).__name__})"
        raise AttemptLost("unavailable", what, self._used(heard)) from None

    def _refused(
        self, refusal: Refusal, heard: Heard, headers: Mapping[str, str], *, is_whole: bool = False
    ) -> AttemptLost:
        """Return the failure for a refusal, by its status or, in a response with status 200, by its name.

        `is_whole`: the refusal came instead of an answer, so nothing was used.
        """
        status, words = refusal.status, self._scrubbed(refusal.words)
        used = self._used(heard)
        if is_whole or not heard.model:
            # No model was named, so the server refused before any token was used.
            used = Used(
                tokens_in=0,
                tokens_cached=0,
                tokens_cache_write=0,
                tokens_out=0,
                cost_usd=FREE,
                latency_ms=used.latency_ms or 0,
            )
        head = f"{status or 'error'} {refusal.kind or 'error'}".replace("error error", "error")
        if status in REFUSES and (plainer := without_refused(heard.manner, words)):
            manner, change = plainer
            # Several roles share the seat: another request may have changed the options meanwhile.
            if self._manner == heard.manner:
                self._manner = manner
            return AttemptLost("unavailable", f"{head}: {change}", used, wait_seconds=0.0)
        wish = headers.get("x-should-retry")
        is_gone = status in self.gone
        again = status in AGAIN or status >= 500 or (status == 0 and not is_whole)
        # The server knows best: its header overrides our guess from the status.
        if wish in ("true", "false"):
            again = wish == "true"
        what = f"{head}: {self.gone[status]}" if is_gone else head
        if words and words not in what:
            what = f"{what}: {words[:TOLD_CHARACTERS]}"
        return AttemptLost(
            "timeout" if status == 408 else "unavailable",
            what,
            used,
            again=again and not is_gone,
            gone=is_gone or (is_whole and not again),
            wait_seconds=retry_after(headers),
            overloaded=status in OVERLOADED,
        )

    def _reply(self, heard: Heard) -> SeatReply:
        text = self._scrubbed("".join(heard.text))
        return SeatReply(
            # A lone surrogate can come from JSON escapes; validation must get bytes that decode.
            content=text[:REPLY_CHARACTERS_MAX].encode("utf-8", "replace"),
            seat=self.kind,
            # The API is sent nothing but the brief: no tools, no earlier messages.
            isolation="enforced",
            provider="fake" if heard.simulated else self._provider(),
            model=self._scrubbed(heard.model or self.model)[:200],
            **msgspec.structs.asdict(self._used(heard)),
            stop_reason=self._scrubbed(heard.stop_reason or "unknown")[:200],
            simulated="fake" if heard.simulated else None,
        )

    def _used(self, heard: Heard) -> Used:
        """Return the usage of an attempt: input as soon as it is reported, output and cost only at the end."""
        latency = round((time.monotonic() - heard.began_s) * 1000)
        counts = heard.usage
        # Counts in the middle of a stream are preliminary, and a cost from them would be too low.
        out = counts.get("out") if heard.final_usage else None
        fresh, read, written = counts.get("uncached"), counts.get("read", 0), counts.get("written", 0)
        prompt, cost = counts.get("prompt"), heard.reported_usd
        if fresh is not None and read is not None and written is not None:
            # The Messages API reports the parts, the Chat Completions API the whole.
            prompt = fresh + read + written if prompt is None else prompt
            if cost is None and out is not None:
                cost = (
                    FREE if self.is_free else self._prices.usd(self.model, Tokens(fresh, read, written, out))
                )
        return Used(
            tokens_in=prompt,
            tokens_cached=read if prompt is not None else None,
            tokens_cache_write=written if prompt is not None else None,
            tokens_out=out,
            cost_usd=cost if heard.final_usage else None,
            latency_ms=latency,
        )

    def _scrubbed(self, text: str) -> str:
        """Return a text with all sent keys masked, including those that the SDK read itself."""
        return masked(text, also=self._keys())


def gone_of(row: Provider, model: str) -> Mapping[int, str]:
    """Return status → fix, for statuses after which a seat is not asked again."""
    return {
        401: f"the key was not accepted: check {row.key_name}",
        402: "the account cannot pay: look at its billing",
        403: "the key may not do this: check its permissions",
        404: row.no_model.format(model=model),
    }


class ServerRefused(Exception):
    """Error or web page in a response with status 200.

    `is_whole`: it came instead of the answer, not in the middle of it.
    """

    def __init__(self, refusal: Refusal, *, is_whole: bool = True) -> None:
        super().__init__(refusal.words)
        self.refusal, self.is_whole = refusal, is_whole


def refusal_of(error: Any, body: object) -> Refusal:
    """Return the refusal in an error of an SDK. Its status counts unless it is that of a success."""
    refusal = refusal_in(body)
    status = getattr(error, "status_code", 0)
    kind = (
        plain_kind(getattr(error, "type", None)) or plain_kind(getattr(error, "code", None)) or refusal.kind
    )
    words = refusal.words or str(getattr(error, "message", "") or "")
    status = status if status >= 400 else refusal.status or STATUS_OF.get(kind, 0)
    return Refusal(status, kind, words, refusal.code)


async def refuse_whole(response: Any) -> bytes | None:
    """Return the body of a response that is not a stream, None for a stream. Raises `ServerRefused` for an error in it.

    Some servers do not stream, and some answer a wrong address with status 200 and an error or a page.
    """
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", "text/html"):
        return None
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        # JSON escapes make a body longer than its text; past this limit nothing useful comes.
        if len(body) > 4 * REPLY_CHARACTERS_MAX:
            break
    refusal = refusal_in(_parsed(body))
    if kind == "text/html" or refusal.words:
        # Most often the address lacks its path, and a web interface answers.
        hint = "" if refusal.status else ". Check the address, which mostly ends in /v1"
        raise ServerRefused(refusal._replace(words=f"the server said: {refusal.words}{hint}"))
    return body


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body
