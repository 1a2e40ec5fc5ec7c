"""The `anthropic` seat: the Messages API by the official SDK; what it shares with other APIs is in `api.py`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from ledger.events.envelope import SeatKind
from roles.brief import Brief
from roles.seats.api import (
    SECONDS_CONNECT_MAX,
    SECONDS_MAX,
    SIMULATED,
    TOKENS_OUT_MAX,
    ApiSeat,
    ApiWords,
    Heard,
)
from roles.seats.port import Request
from roles.seats.prices import Prices
from roles.seats.prompt import ENVELOPE, system_of, unwrapped, user_of

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

MODEL: Final = "claude-sonnet-5-5"
"""What sits there when no model is named."""
WORDS: Final = ApiWords(
    api="the Messages API",
    install="the anthropic SDK is not installed: pip install 'anthropic>=2.12'",
    no_key="no key: export ANTHROPIC_API_KEY=… (or the SDK's own configuration)",
    gone={
        401: "the key was not accepted: check ANTHROPIC_API_KEY",
        402: "the account cannot pay: look at its billing",
        403: "the key may not do this: check its permissions",
        404: "no such model or address: check the model's name and ANTHROPIC_BASE_URL",
    },
)
_USAGE: Final[Mapping[str, str]] = {
    "input_tokens": "uncached",
    "cache_read_input_tokens": "read",
    "cache_creation_input_tokens": "written",
    "output_tokens": "out",
}


class AnthropicSeat(ApiSeat):
    """A model behind the Messages API."""

    kind: SeatKind = "anthropic"

    def __init__(
        self,
        model: str = MODEL,
        *,
        prices: Prices,
        tokens_out_max: int = TOKENS_OUT_MAX,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(model, WORDS, prices=prices, tokens_out_max=tokens_out_max, monotonic=monotonic)

    def _sdk(self) -> ModuleType:
        import anthropic

        return anthropic

    def _base_error(self, sdk: ModuleType) -> type[Exception]:
        error: type[Exception] = sdk.AnthropicError
        return error

    def _connected(self, sdk: ModuleType) -> AsyncAnthropic:
        timeout = sdk.Timeout(SECONDS_MAX, connect=SECONDS_CONNECT_MAX)
        client: AsyncAnthropic = sdk.AsyncAnthropic(max_retries=0, timeout=timeout)
        return client

    def _texts(self, brief: Brief) -> list[str]:
        return [block["text"] for block in (*system_of(brief), *user_of(brief))]

    def _content(self, text: str) -> bytes:
        return unwrapped(text)

    def _provider(self) -> str:
        """The host is not named: what a ledger says of a server is whether it is the official one."""
        host = self._client.base_url.host if self._client is not None else ""
        return "anthropic" if host == "api.anthropic.com" else "compatible"

    def _keys(self) -> tuple[str, ...]:
        client = self._client
        return (client.api_key or "", client.auth_token or "") if client is not None else ()

    def _has_key(self, client: Any) -> bool:
        # The SDK may also read credentials from a profile of its own, which it then keeps under this name.
        return bool(client.api_key or client.auth_token or getattr(client, "credentials", None))

    async def _listen(self, client: Any, request: Request, heard: Heard) -> None:
        output: dict[str, Any] = {"format": {"type": "json_schema", "schema": dict(ENVELOPE)}}
        stream: Any = await client.messages.create(
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
                _take(event, request, heard)
                if heard.is_too_long:
                    return


def _take(event: Any, request: Request, heard: Heard) -> None:
    match event.type:
        case "message_start":
            heard.model = str(event.message.model)
            heard.take_usage(event.message.usage, _USAGE)
        case "content_block_delta" if event.delta.type == "text_delta":
            heard.add(event.delta.text, request)
        case "message_delta":
            heard.stop_reason = event.delta.stop_reason
            heard.take_usage(event.usage, _USAGE)
            heard.final_usage = True
        case "message_stop":
            heard.complete = True
        case _:
            pass  # pings, thinking and block marks say nothing that is kept
