"""A model behind an HTTP API: what the seats share whose provider has an official SDK.

One attempt a call, streamed. The SDK is imported in the call, because that takes up to two seconds, and retries
nothing: the driver does. Keys stay in the environment or the SDK's own configuration; whatever a server says is
searched for them before it is kept. What differs by provider is abstract in `ApiSeat`, or in its table of words.
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final, NoReturn

from ledger.events.envelope import SeatKind
from ledger.redaction.masking import masked
from roles.brief import Brief
from roles.seats.port import AttemptLost, Bound, Request, SeatFailed, SeatReply, Used
from roles.seats.prices import Prices, Tokens
from roles.seats.reachable import unreachable

TOKENS_OUT_MAX: Final = 24_000
"""Of one reply, thinking included."""
OVERHEAD_TOKENS: Final = 2_000
"""What the service may add to a prompt for its own purposes, generously."""
SECONDS_MAX: Final = 600.0
SECONDS_CONNECT_MAX: Final = 10.0
REPLY_CHARACTERS_MAX: Final = 1_000_000
"""Where reading stops, whatever a server goes on to say."""
TOLD_CHARACTERS: Final = 300
AGAIN: Final = frozenset({408, 409, 429})
OVERLOADED: Final = frozenset({429, 503, 529})
OVERLOADED_KINDS: Final = frozenset({"overloaded_error", "rate_limit_error", "rate_limit_exceeded"})
"""What an error in the middle of a stream is called when everybody should slow down."""
SIMULATED: Final = "moot-simulated"
"""A response header: a server whose replies no model made says so by the value `fake`."""


@dataclass(frozen=True, slots=True)
class ApiWords:
    """How a provider is spoken of: its API, what to install, what is missing without a key, why a status is final."""

    api: str
    install: str
    no_key: str
    gone: Mapping[int, str]


@dataclass(slots=True)
class Heard:
    """What came of a reply so far. `usage` is by the names of `Tokens`; what is said later replaces what was said."""

    began_s: float
    text: list[str] = field(default_factory=list[str])
    characters: int = 0
    usage: dict[str, int] = field(default_factory=dict[str, int])
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
            value = getattr(usage, theirs, None)
            if isinstance(value, int):
                self.usage[ours] = value

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

    def __init__(
        self,
        model: str,
        words: ApiWords,
        *,
        prices: Prices,
        tokens_out_max: int = TOKENS_OUT_MAX,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self._words = words
        self._prices = prices
        self._tokens_out_max = tokens_out_max
        self._monotonic = monotonic
        self._client: Any = None

    @abstractmethod
    def _sdk(self) -> ModuleType:
        """The SDK. Raises `ImportError`."""

    @abstractmethod
    def _connected(self, sdk: ModuleType) -> Any:
        """A client of the SDK that retries nothing."""

    @abstractmethod
    async def _listen(self, client: Any, request: Request, heard: Heard) -> None:
        """Ask, and take down what comes."""

    @abstractmethod
    def _texts(self, brief: Brief) -> list[str]:
        """All that is sent of a brief."""

    @abstractmethod
    def _content(self, text: str) -> bytes:
        """The reply in what the model wrote."""

    @abstractmethod
    def _provider(self) -> str:
        """Who serves the model, never by the name of a host."""

    @abstractmethod
    def _keys(self) -> tuple[str, ...]:
        """The keys that were sent, should a server give them back."""

    def unready(self) -> str | None:
        """Return what is missing before the first request: a key, or a server that listens. Nothing is sent."""
        sdk = self._sdk()
        try:
            client = self._connected(sdk)
            if not self._has_key(client):
                return self._words.no_key
            return unreachable(str(client.base_url))
        except SeatFailed as failure:
            return failure.detail
        except (self._base_error(sdk), TypeError, ValueError) as error:
            return f"{self._words.no_key} ({type(error).__name__})"

    def _has_key(self, client: Any) -> bool:
        """Return whether the client has what its server wants; a seat whose server wants no key need not ask."""
        return client is not None

    @property
    def priced(self) -> bool:
        """Whether the model has a price."""
        return self.model in self._prices.models

    def bound(self, request: Request) -> Bound:
        """A token is at least a byte, so the bytes that are sent bound the tokens of the prompt."""
        prompt = sum(len(text.encode()) for text in self._texts(request.brief)) + OVERHEAD_TOKENS
        usd = self._prices.bound(self.model, prompt, self._tokens_out_max)
        return Bound(prompt + self._tokens_out_max, usd)

    async def reply(self, request: Request) -> SeatReply:
        """One attempt. Raises `AttemptLost`; then the usage that is known is in it."""
        sdk = self._imported()
        if self._client is None:
            self._client = self._connected(sdk)
        heard = Heard(self._monotonic())
        try:
            await self._listen(self._client, request, heard)
        except Exception as error:  # noqa: BLE001  # each is told apart, and what is no failure of a call raised again
            self._fail(sdk, error, heard)
        if not heard.complete:
            raise AttemptLost("unavailable", "the answer broke off", self._used(heard))
        return self._reply(heard)

    async def close(self) -> None:
        """Let the connections go."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _imported(self) -> ModuleType:
        try:
            return self._sdk()
        except ImportError:
            raise SeatFailed("unavailable", self._words.install, gone=True) from None

    def _fail(self, sdk: Any, error: Any, heard: Heard) -> NoReturn:
        """The failure of an attempt, by what the SDK raised."""
        import httpx2

        if isinstance(error, SeatFailed):
            raise error
        if isinstance(error, sdk.APIStatusError) and error.status_code >= 400:
            raise self._refused(error, heard) from None
        if isinstance(error, sdk.APITimeoutError | httpx2.TimeoutException):
            raise AttemptLost("timeout", "no answer in time", self._used(heard)) from None
        if isinstance(error, sdk.APIConnectionError | httpx2.HTTPError):
            what = f"the connection failed ({type(error).__name__})"
            raise AttemptLost("unavailable", what, self._used(heard)) from None
        if isinstance(error, sdk.APIError) and (kind := kind_of(error)):
            overloaded, what = kind in OVERLOADED_KINDS, f"the answer broke off: {kind}"
            raise AttemptLost("unavailable", what, self._used(heard), overloaded=overloaded) from None
        if isinstance(error, sdk.APIError | ValueError):
            what = f"the answer is not of {self._words.api} ({type(error).__name__})"
            raise AttemptLost("unavailable", what, self._used(heard)) from None
        if isinstance(error, TypeError | self._base_error(sdk)) and heard.model is None:
            no_key = self._words.no_key
            what = no_key if "authentication" in str(error) else f"{no_key} ({type(error).__name__})"
            raise SeatFailed("unavailable", what, gone=True) from None
        raise error

    @abstractmethod
    def _base_error(self, sdk: ModuleType) -> type[Exception]:
        """What all errors of the SDK are."""

    def _refused(self, error: Any, heard: Heard) -> AttemptLost:
        """An HTTP error: nothing was used, and `x-should-retry` has the last word about another attempt."""
        status, kind = int(error.status_code), kind_of(error) or "error"
        latency = round((self._monotonic() - heard.began_s) * 1000)
        told = error.response.headers.get("x-should-retry")
        again = told == "true" if told in ("true", "false") else status in AGAIN or status >= 500
        what, is_gone = f"{status} {kind}", status in self._words.gone
        if is_gone:
            what = f"{what}: {self._words.gone[status]}"
        elif not again:
            what = f"{what}: {self._scrubbed(message_of(error))[:TOLD_CHARACTERS]}"
        return AttemptLost(
            "timeout" if status == 408 else "unavailable",
            what,
            nothing_used(latency),
            again=again and not is_gone,
            gone=is_gone,
            wait_seconds=retry_after(error.response.headers),
            overloaded=status in OVERLOADED,
        )

    def _reply(self, heard: Heard) -> SeatReply:
        used = self._used(heard)
        text = self._scrubbed("".join(heard.text))
        return SeatReply(
            content=self._content(text[:REPLY_CHARACTERS_MAX]),
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
        if "uncached" not in heard.usage:
            return Used(latency_ms=latency)
        counts = heard.usage
        tokens = Tokens(
            counts["uncached"], counts.get("read", 0), counts.get("written", 0), counts.get("out", 0)
        )
        return Used(
            tokens_in=tokens.prompt,
            tokens_cached=tokens.read,
            tokens_cache_write=tokens.written,
            tokens_out=tokens.out if heard.final_usage else None,
            cost_usd=(heard.said_usd or self._usd(tokens)) if heard.final_usage else None,
            latency_ms=latency,
        )

    def _usd(self, tokens: Tokens) -> str | None:
        return self._prices.usd(self.model, tokens)

    def _scrubbed(self, text: str) -> str:
        """A text without the keys that were sent; the SDK may have its own."""
        return masked(text, also=self._keys())


def nothing_used(latency_ms: int) -> Used:
    """What a request used that was refused."""
    return Used(0, 0, 0, 0, "0.000000", latency_ms)


def kind_of(error: Any) -> str:
    """What the service calls an error, as a plain word; empty when it does not say."""
    said = getattr(error, "type", None) or getattr(error, "code", None) or ""
    return re.sub(r"[^a-z_]", "", str(said))[:60]


def message_of(error: Any) -> str:
    """What the service says of an error."""
    return str(getattr(error, "api_message", None) or getattr(error, "message", None) or "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the service asks to wait; dates and nonsense are left to the driver's own wait."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        said = headers.get(name, "")
        if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", said):
            return float(said) * unit
    return None
