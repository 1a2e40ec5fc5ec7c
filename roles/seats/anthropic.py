"""The `anthropic` seat: the Messages API by the official SDK, one attempt a call, streamed.

The SDK is imported in the call, because that takes more than a second, and retries nothing: the driver does. Keys stay
in the environment or the SDK's own configuration; whatever a server says is searched for them before it is kept.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ledger.events.envelope import SeatKind
from ledger.redaction.masking import masked
from roles.seats.port import AttemptLost, Bound, Request, SeatFailed, SeatReply, Used
from roles.seats.prices import Prices, Tokens
from roles.seats.prompt import ENVELOPE, system_of, unwrapped, user_of

if TYPE_CHECKING:
    from anthropic import APIStatusError, AsyncAnthropic

MODEL: Final = "claude-sonnet-5-5"
"""What sits there when no model is named."""
EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
TOKENS_OUT_MAX: Final = 24_000
"""Of one reply, thinking included."""
OVERHEAD_TOKENS: Final = 2_000
"""What the service may add to a prompt for its own purposes, generously."""
SECONDS_MAX: Final = 600.0
SECONDS_CONNECT_MAX: Final = 10.0
REPLY_CHARACTERS_MAX: Final = 1_000_000
"""Where reading stops, whatever a server goes on to say."""
INSTALL: Final = "the anthropic SDK is not installed: pip install 'moot[anthropic]'"
NO_KEY: Final = "no key: export ANTHROPIC_API_KEY=… (or the SDK's own configuration)"
GONE: Final[Mapping[int, str]] = {
    401: "the key was not accepted: check ANTHROPIC_API_KEY",
    402: "the account cannot pay: look at its billing",
    403: "the key may not do this: check its permissions",
    404: "no such model or address: check the model's name and ANTHROPIC_BASE_URL",
}
AGAIN: Final = frozenset({408, 409, 429})
OVERLOADED: Final = frozenset({429, 503, 529})
SIMULATED: Final = "moot-simulated"
"""A response header: a server whose replies no model made says so by the value `fake`."""


@dataclass(slots=True)
class _Heard:
    """What came of a reply so far."""

    began_s: float
    text: list[str] = field(default_factory=list[str])
    characters: int = 0
    usage: dict[str, int] = field(default_factory=dict[str, int])
    model: str | None = None
    stop_reason: str | None = None
    complete: bool = False
    final_usage: bool = False
    simulated: bool = False

    def take_usage(self, usage: Any) -> None:
        """Usage is cumulative: what is said later replaces what was said before."""
        for name in _USAGE:
            value = getattr(usage, name, None)
            if isinstance(value, int):
                self.usage[name] = value


_USAGE: Final = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


class AnthropicSeat:
    """A model behind the Messages API. Roles that share a seat share its connections, never a conversation."""

    kind: SeatKind = "anthropic"
    caches: bool = True

    def __init__(
        self,
        model: str = MODEL,
        *,
        prices: Prices,
        effort: str | None = None,
        tokens_out_max: int = TOKENS_OUT_MAX,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self._prices = prices
        self._effort = effort
        self._tokens_out_max = tokens_out_max
        self._monotonic = monotonic
        self._client: AsyncAnthropic | None = None

    @property
    def priced(self) -> bool:
        """Whether the model has a price."""
        return self.model in self._prices.models

    def bound(self, request: Request) -> Bound:
        """A token is at least a byte, so the bytes that are sent bound the tokens of the prompt."""
        sent = system_of(request.brief) + user_of(request.brief)
        prompt = sum(len(block["text"].encode()) for block in sent) + OVERHEAD_TOKENS
        usd = self._prices.bound(self.model, prompt, self._tokens_out_max)
        return Bound(prompt + self._tokens_out_max, usd)

    async def reply(self, request: Request) -> SeatReply:
        """One attempt. Raises `AttemptLost`; then the usage that is known is in it."""
        client = self._connected()
        import anthropic
        import httpx2

        heard = _Heard(self._monotonic())
        try:
            await self._listen(client, request, heard)
        except anthropic.APIStatusError as error:
            raise self._refused(error, heard) from None
        except (anthropic.APITimeoutError, httpx2.TimeoutException):
            raise AttemptLost("timeout", "no answer in time", self._used(heard)) from None
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            what = f"the connection failed ({type(error).__name__})"
            raise AttemptLost("unavailable", what, self._used(heard)) from None
        except (anthropic.APIError, ValueError) as error:
            what = f"the answer is not of the Messages API ({type(error).__name__})"
            raise AttemptLost("unavailable", what, self._used(heard)) from None
        except (TypeError, anthropic.AnthropicError) as error:
            if heard.model is not None:
                raise
            what = NO_KEY if "authentication" in str(error) else f"{NO_KEY} ({type(error).__name__})"
            raise SeatFailed("unavailable", what, gone=True) from None
        if not heard.complete:
            raise AttemptLost("unavailable", "the answer broke off", self._used(heard))
        return self._reply(heard)

    async def close(self) -> None:
        """Let the connections go."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _connected(self) -> AsyncAnthropic:
        if self._client is None:
            try:
                from anthropic import AsyncAnthropic, Timeout
            except ImportError:
                raise SeatFailed("unavailable", INSTALL, gone=True) from None
            timeout = Timeout(SECONDS_MAX, connect=SECONDS_CONNECT_MAX)
            self._client = AsyncAnthropic(max_retries=0, timeout=timeout)
        return self._client

    async def _listen(self, client: AsyncAnthropic, request: Request, heard: _Heard) -> None:
        output: dict[str, Any] = {"format": {"type": "json_schema", "schema": dict(ENVELOPE)}}
        if self._effort is not None:
            output["effort"] = self._effort
        create: Any = client.messages.create  # its overloads know blocks as typed dictionaries alone
        stream: Any = await create(
            model=self.model,
            max_tokens=self._tokens_out_max,
            system=system_of(request.brief),
            messages=[{"role": "user", "content": user_of(request.brief)}],
            output_config=output,
            stream=True,
        )
        async with stream:
            heard.simulated = stream.response.headers.get(SIMULATED) == "fake"
            async for event in stream:
                if heard.model is None:
                    request.began()
                pieces = len(heard.text)
                _take(event, heard)
                if len(heard.text) > pieces:
                    request.words(heard.text[-1])
                if heard.characters > REPLY_CHARACTERS_MAX:
                    heard.stop_reason, heard.complete = "max_tokens", True
                    return

    def _reply(self, heard: _Heard) -> SeatReply:
        used = self._used(heard)
        text = self._scrubbed("".join(heard.text))
        return SeatReply(
            content=unwrapped(text[:REPLY_CHARACTERS_MAX]),
            seat="anthropic",
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

    def _provider(self) -> str:
        """The host is not named: what a ledger says of a server is whether it is the official one."""
        host = self._client.base_url.host if self._client is not None else ""
        return "anthropic" if host == "api.anthropic.com" else "compatible"

    def _used(self, heard: _Heard) -> Used:
        """What an attempt used: input is known from the first event on, output and cost at its end."""
        latency = round((self._monotonic() - heard.began_s) * 1000)
        if "input_tokens" not in heard.usage:
            return Used(latency_ms=latency)
        read = heard.usage.get("cache_read_input_tokens", 0)
        written = heard.usage.get("cache_creation_input_tokens", 0)
        tokens = Tokens(heard.usage["input_tokens"], read, written, heard.usage.get("output_tokens", 0))
        return Used(
            tokens_in=tokens.prompt,
            tokens_cached=read,
            tokens_cache_write=written,
            tokens_out=tokens.out if heard.final_usage else None,
            cost_usd=self._prices.usd(self.model, tokens) if heard.final_usage else None,
            latency_ms=latency,
        )

    def _refused(self, error: APIStatusError, heard: _Heard) -> AttemptLost:
        """An HTTP error, or an error event in the middle of a stream (status 200)."""
        status, kind = error.status_code, re.sub(r"[^a-z_]", "", str(error.type or "error"))[:60]
        if status < 400:
            overloaded = kind in ("overloaded_error", "rate_limit_error")
            what = f"the answer broke off: {kind}"
            return AttemptLost("unavailable", what, self._used(heard), overloaded=overloaded)
        latency = round((self._monotonic() - heard.began_s) * 1000)
        nothing = Used(0, 0, 0, 0, "0.000000", latency)
        told = error.response.headers.get("x-should-retry")
        again = told == "true" if told in ("true", "false") else status in AGAIN or status >= 500
        what = f"{status} {kind}"
        if status in GONE:
            what = f"{what}: {GONE[status]}"
        elif not again:
            what = f"{what}: {self._scrubbed(str(error.api_message or ''))[:300]}"
        return AttemptLost(
            "timeout" if status == 408 else "unavailable",
            what,
            nothing,
            again=again and status not in GONE,
            gone=status in GONE,
            wait_seconds=_retry_after(error.response.headers),
            overloaded=status in OVERLOADED,
        )

    def _scrubbed(self, text: str) -> str:
        """A text without the keys that were sent, should a server give them back; the SDK may have its own."""
        client = self._client
        return masked(
            text, also=(client.api_key or "", client.auth_token or "") if client is not None else ()
        )


def _take(event: Any, heard: _Heard) -> None:
    match event.type:
        case "message_start":
            heard.model = str(event.message.model)
            heard.take_usage(event.message.usage)
        case "content_block_delta" if event.delta.type == "text_delta":
            heard.text.append(event.delta.text)
            heard.characters += len(event.delta.text)
        case "message_delta":
            heard.stop_reason = event.delta.stop_reason
            heard.take_usage(event.usage)
            heard.final_usage = True
        case "message_stop":
            heard.complete = True
        case _:
            pass  # pings, thinking and block marks say nothing that is kept


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the service asks to wait; dates and nonsense are left to the driver's own wait."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        said = headers.get(name, "")
        if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", said):
            return float(said) * unit
    return None
