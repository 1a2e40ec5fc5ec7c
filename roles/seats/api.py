"""A model behind an HTTP API: what the seats share whose provider has an official SDK.

One attempt a call, streamed. The SDK is imported in the call, because that takes up to two seconds, and retries
nothing: the driver does. Keys stay in the environment or the SDK's own configuration; whatever a server says is
searched for them before it is kept. What differs by provider is abstract in `ApiSeat`, or in its table of words.
"""

from __future__ import annotations

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import import_module
from typing import Any, Final, NoReturn

from ledger.events.envelope import SeatKind
from ledger.redaction.masking import masked
from roles.brief import Brief
from roles.seats.event_stream import events_in
from roles.seats.manner import REFUSES, Manner, without_refused
from roles.seats.port import AttemptLost, Bound, Request, SeatFailed, SeatReply, Used, counted
from roles.seats.prices import Prices, Tokens
from roles.seats.reachable import unreachable
from roles.seats.registry import Provider
from roles.seats.server_words import STATUS_OF, Refusal, cause_of, member, plain_kind, refusal_in

OVERHEAD_TOKENS: Final = 2_000
"""What the service may add to a prompt for its own purposes, generously."""
SECONDS_MAX: Final = 600.0
SECONDS_CONNECT_MAX: Final = 10.0
REPLY_CHARACTERS_MAX: Final = 1_000_000
"""Where reading stops, whatever a server goes on to say."""
TOLD_CHARACTERS: Final = 300
AGAIN: Final = frozenset({408, 409, 429})
OVERLOADED: Final = frozenset({429, 503, 529})
FREE: Final = "0.000000"
FAILED: Final = "error"
"""Stop reason of an answer that the server itself gave up."""
SIMULATED: Final = "moot-simulated"
"""A response header: a server whose replies no model made says so by the value `fake`."""


@dataclass(slots=True)
class Heard:
    """What came of a reply so far. `usage` is by the names of `Tokens`; what is said later replaces what was said."""

    began_s: float
    text: list[str] = field(default_factory=list[str])
    characters: int = 0
    usage: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    manner: Manner | None = None
    """How the request was put."""
    model: str | None = None
    stop_reason: str | None = None
    complete: bool = False
    final_usage: bool = False
    simulated: bool = False
    said_usd: str | None = None
    """What the service itself says that the reply cost."""

    def take_usage(self, usage: Any, names: Mapping[str, str]) -> None:
        """Counts by our names; those that the service leaves out stay as they were."""
        for theirs, ours in names.items():
            value = member(usage, theirs)
            if value is not None:
                # A count that cannot be makes the whole account of the reply unknown, never zero.
                self.usage[ours] = counted(value)

    def add(self, text: str, request: Request) -> None:
        """One more piece of the reply; it is over when it is longer than anybody reads."""
        self.text.append(text)
        self.characters += len(text)
        request.words(text)
        if self.characters > REPLY_CHARACTERS_MAX:
            self.stop_reason, self.complete = "max_tokens", True

    @property
    def is_too_long(self) -> bool:
        """Whether reading stopped at our bound."""
        return self.characters > REPLY_CHARACTERS_MAX


class ApiSeat(ABC):
    """A model behind an API. Roles that share a seat share its connections, never a conversation."""

    kind: SeatKind
    caches: bool = True
    api: str
    """How the API is called in messages."""

    def __init__(
        self,
        model: str,
        row: Provider,
        *,
        prices: Prices,
        tokens_out_max: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model, self.row, self.kind = model, row, row.seat
        self.gone = gone_of(row, model)
        self._prices = prices
        self._tokens_out_max = tokens_out_max or row.tokens_out_max
        self._monotonic = monotonic
        self._client: Any = None
        self._manner = Manner(row.forms, self._tokens_out_max, row.limits)
        self._has_answered = False

    @abstractmethod
    def _connected(self, sdk: Any) -> Any:
        """Return a client of the SDK that retries nothing."""

    @abstractmethod
    async def _asked(self, client: Any, brief: Brief, manner: Manner) -> Any:
        """Send the request and return the SDK's stream."""

    @abstractmethod
    def _take(self, event: Any, request: Request, heard: Heard) -> None:
        """Take one event of the stream: any JSON value, so each member is asked for its type."""

    @abstractmethod
    def _take_whole(self, answer: Any, request: Request, heard: Heard) -> None:
        """Take a whole answer from a server that does not stream."""

    @abstractmethod
    def _texts(self, brief: Brief) -> list[str]:
        """Return all that is sent of a brief."""

    def _provider(self) -> str:
        """Return who serves the model, never by the name of a host."""
        return self.row.name

    def _keys(self) -> tuple[str, ...]:
        """Return the keys that were sent, should a server give them back."""
        return (self.row.key_value,)

    def _address(self) -> str:
        """Return where the seat asks, as a person would write it."""
        return self.row.address

    async def _listen(self, client: Any, request: Request, heard: Heard) -> None:
        """Ask, and take down what comes."""
        manner = heard.manner = self._manner
        stream = await self._asked(client, request.brief, manner)
        async with stream:
            heard.simulated = stream.response.headers.get(SIMULATED) == "fake"
            whole = await refuse_whole(stream.response)
            if whole is not None:
                self._take_whole(json.loads(whole), request, heard)
                return
            async for event in events_in(stream.response.aiter_bytes()):
                if heard.model is None:
                    request.began()
                self._take(event, request, heard)
                if heard.is_too_long:
                    return

    def unready(self) -> str | None:
        """Return what is missing before the first request: a key, or a server that listens. Nothing is sent."""
        try:
            client = self._ready_client(self._imported())
            return unreachable(str(client.base_url)) if self._has_key(client) else self.row.no_key
        except SeatFailed as failure:
            return failure.detail

    def _ready_client(self, sdk: Any) -> Any:
        """Return a client. Raises `SeatFailed` in plain words for whatever in the environment stands against one."""
        try:
            return self._connected(sdk)
        except (self._base_error(sdk), TypeError) as error:
            what = f"{self.row.no_key} ({type(error).__name__})"
            raise SeatFailed("unavailable", what, gone=True) from None
        except (ImportError, OSError, ValueError) as error:
            cause = cause_of(error, self._address(), key_name(self.row))
            raise SeatFailed("unavailable", cause.words, gone=True) from None

    def _has_key(self, client: Any) -> bool:
        """Return whether the client has what its server wants; a seat whose server wants no key need not ask."""
        return client is not None

    @property
    def is_free(self) -> bool:
        """Whether a reply costs nothing: the model runs on somebody's own machine."""
        return self.row.is_free(self.model)

    @property
    def priced(self) -> bool:
        """Whether it is known beforehand what a reply can cost."""
        return self.is_free or self.model in self._prices.models

    def bound(self, request: Request) -> Bound:
        """A token is at least a byte, so the bytes that are sent bound the tokens of the prompt."""
        prompt = sum(len(text.encode()) for text in self._texts(request.brief)) + OVERHEAD_TOKENS
        usd = Decimal(0) if self.is_free else self._prices.bound(self.model, prompt, self._tokens_out_max)
        return Bound(prompt + self._tokens_out_max, usd)

    async def reply(self, request: Request) -> SeatReply:
        """One attempt. Raises `AttemptLost`; then the usage that is known is in it."""
        sdk = self._imported()
        if self._client is None:
            self._client = self._ready_client(sdk)
        heard = Heard(self._monotonic(), manner=self._manner)
        try:
            await self._listen(self._client, request, heard)
        except Exception as error:  # noqa: BLE001  # each is told apart, and what is no failure of a call raised again
            self._fail(sdk, error, heard)
        if heard.stop_reason == FAILED:
            raise AttemptLost("unavailable", "the server ended the answer with an error", self._used(heard))
        if not heard.complete:
            raise AttemptLost("unavailable", "the answer broke off", self._used(heard))
        self._has_answered = True
        return self._reply(heard)

    async def close(self) -> None:
        """Let the connections go."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _imported(self) -> Any:
        """Import the SDK. Raises `SeatFailed` with what to install."""
        sdk = self.row.sdk
        assert sdk is not None, "models behind an API are asked by an SDK"
        try:
            return import_module(sdk.package)
        except ImportError:
            what = f"the {sdk.package} SDK is not installed: {sdk.fix}"
            raise SeatFailed("unavailable", what, gone=True) from None

    def _base_error(self, sdk: Any) -> type[Exception]:
        assert self.row.sdk is not None, "models behind an API are asked by an SDK"
        error: type[Exception] = getattr(sdk, self.row.sdk.error)
        return error

    def _fail(self, sdk: Any, error: Any, heard: Heard) -> NoReturn:
        """The failure of an attempt, by what the SDK raised."""
        import httpx2

        if isinstance(error, SeatFailed):
            raise error
        if isinstance(error, sdk.APIStatusError) and error.status_code >= 400:
            body = error.response.text if error.response.is_stream_consumed else error.body
            raise self._refused(refusal_of(error, body), heard, error.response.headers) from None
        if isinstance(error, sdk.APITimeoutError | httpx2.TimeoutException):
            raise AttemptLost("timeout", "no answer in time", self._used(heard)) from None
        if isinstance(
            error,
            sdk.APIConnectionError | httpx2.HTTPError | httpx2.InvalidURL | UnicodeEncodeError | OSError,
        ):
            cause = cause_of(error, self._address(), key_name(self.row))
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
            what = no_key if "authentication" in str(error) else f"{no_key} ({type(error).__name__})"
            raise SeatFailed("unavailable", what, gone=True) from None
        what = f"the answer is not of {self.api} ({type(error).__name__})"
        raise AttemptLost("unavailable", what, self._used(heard)) from None

    def _refused(
        self, refusal: Refusal, heard: Heard, headers: Mapping[str, str], *, is_whole: bool = False
    ) -> AttemptLost:
        """Return what follows from a refusal, by its status or, inside an answer with status 200, by its name.

        `x-should-retry` has the last word about another attempt. `is_whole`: the refusal came instead of an answer, so
        that nothing was used.
        """
        status, words = refusal.status, self._scrubbed(refusal.words)
        used = self._used(heard)
        if is_whole or not heard.model:
            used = nothing_used(used.latency_ms or 0)
        head = f"{status or 'error'} {refusal.kind or 'error'}".replace("error error", "error")
        if status in REFUSES and heard.manner is not None:
            plainer = without_refused(heard.manner, words)
            if plainer is not None:
                if self._manner == heard.manner:
                    self._manner = plainer.manner
                return AttemptLost("unavailable", f"{head}: {plainer.words}", used, wait_seconds=0.0)
        wish = headers.get("x-should-retry")
        is_gone = status in self.gone
        again = status in AGAIN or status >= 500 or (status == 0 and not is_whole)
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
        used = self._used(heard)
        text = self._scrubbed("".join(heard.text))
        return SeatReply(
            content=text[:REPLY_CHARACTERS_MAX].encode("utf-8", "replace"),
            seat=self.kind,
            isolation="enforced",
            provider="fake" if heard.simulated else self._provider(),
            model=self._scrubbed(heard.model or self.model)[:200],
            tokens_in=used.tokens_in,
            tokens_cached=used.tokens_cached,
            tokens_cache_write=used.tokens_cache_write,
            tokens_out=used.tokens_out,
            cost_usd=used.cost_usd,
            latency_ms=used.latency_ms,
            stop_reason=self._scrubbed(heard.stop_reason or "unknown")[:200],
            simulated="fake" if heard.simulated else None,
        )

    def _used(self, heard: Heard) -> Used:
        """What an attempt used: input when the service has said it, output and cost at the end."""
        latency = round((self._monotonic() - heard.began_s) * 1000)
        counts = heard.usage
        fresh, read, written = counts.get("uncached"), counts.get("read", 0), counts.get("written", 0)
        out = counts.get("out") if heard.final_usage else None
        prompt = counts.get("prompt")
        if prompt is None and fresh is not None and read is not None and written is not None:
            prompt = fresh + read + written
        cost = heard.said_usd
        if (
            cost is None
            and fresh is not None
            and read is not None
            and written is not None
            and out is not None
        ):
            cost = self._usd(Tokens(fresh, read, written, out))
        return Used(
            tokens_in=prompt,
            tokens_cached=read if prompt is not None else None,
            tokens_cache_write=written if prompt is not None else None,
            tokens_out=out,
            cost_usd=cost if heard.final_usage else None,
            latency_ms=latency,
        )

    def _usd(self, tokens: Tokens) -> str | None:
        return FREE if self.is_free else self._prices.usd(self.model, tokens)

    def _scrubbed(self, text: str) -> str:
        """A text without the keys that were sent; the SDK may have its own."""
        return masked(text, also=self._keys())


def key_name(row: Provider) -> str:
    """Return where a provider's key is kept."""
    return row.key or "its configuration"


def gone_of(row: Provider, model: str) -> Mapping[int, str]:
    """Return the statuses after which a seat is not asked again, with the fix."""
    return {
        401: f"the key was not accepted: check {key_name(row)}",
        402: "the account cannot pay: look at its billing",
        403: "the key may not do this: check its permissions",
        404: row.no_model.format(model=model),
    }


def nothing_used(latency_ms: int) -> Used:
    """What a request used that was refused."""
    return Used(0, 0, 0, 0, "0.000000", latency_ms)


class ServerRefused(Exception):
    """A server answered with status 200 and yet refused: an error, or a page, where the answer should be.

    `is_whole`: it came instead of the answer, not inside it.
    """

    def __init__(self, refusal: Refusal, *, is_whole: bool = True) -> None:
        super().__init__(refusal.words)
        self.refusal, self.is_whole = refusal, is_whole


def refusal_of(error: Any, body: object) -> Refusal:
    """Return the refusal in an error of an SDK; its status counts unless it came with a healthy answer."""
    refusal = refusal_in(body)
    status = getattr(error, "status_code", 0)
    kind = (
        plain_kind(getattr(error, "type", None)) or plain_kind(getattr(error, "code", None)) or refusal.kind
    )
    words = refusal.words or str(getattr(error, "message", "") or "")
    status = status if status >= 400 else refusal.status or STATUS_OF.get(kind, 0)
    return Refusal(status, kind, words, refusal.code)


async def refuse_whole(response: Any) -> bytes | None:
    """Return the body of an answer that is not a stream; None when it is one. Raises `ServerRefused`.

    Some servers do not stream, and some answer a wrong address with status 200 and an error or a page.
    """
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", "text/html"):
        return None
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > 4 * REPLY_CHARACTERS_MAX:
            break
    refusal = refusal_in(_parsed(body))
    if kind == "text/html" or refusal.words:
        hint = "" if refusal.status else ". Check the address, which mostly ends in /v1"
        raise ServerRefused(refusal._replace(words=f"the server said: {refusal.words}{hint}"))
    return body


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the service asks to wait; dates and nonsense are left to the driver's own wait."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        said = headers.get(name, "")
        if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", said):
            return float(said) * unit
    return None
