"""The `anthropic` seat: the Messages API through the official SDK. Code that all APIs share is in `api.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from roles.brief import Brief
from roles.seats.api import (
    SECONDS_CONNECT_MAX,
    SECONDS_MAX,
    ApiSeat,
    Heard,
    ServerRefused,
)
from roles.seats.manner import Manner
from roles.seats.port import Request, Seat, counted, named
from roles.seats.prompt import (
    ENVELOPE,
    PLAIN_HEADING,
    SCHEMA_HEADING,
    Content,
    system_of,
    user_of,
)
from roles.seats.registry import Wanted
from roles.seats.server_words import member, refusal_in, rows_of

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_USAGE: Final[Mapping[str, str]] = {
    "input_tokens": "uncached",
    "cache_read_input_tokens": "read",
    "cache_creation_input_tokens": "written",
    "output_tokens": "out",
}


class AnthropicSeat(ApiSeat):
    """Seat of a model behind the Messages API."""

    api = "the Messages API"

    def _connected(self, sdk: Any) -> AsyncAnthropic:
        timeout = sdk.Timeout(SECONDS_MAX, connect=SECONDS_CONNECT_MAX)
        # Without a key the SDK reads credentials from its own configuration.
        key = self.row.key_value or None
        # The SDKs' own subclass of it prints a traceback from `__del__` when a bad proxy ends its construction.
        client: AsyncAnthropic = sdk.AsyncAnthropic(
            api_key=key, max_retries=0, timeout=timeout, http_client=sdk.DefaultAsyncHttpxClient()
        )
        return client

    def _address(self) -> str:
        return str(self._client.base_url) if self._client is not None else self.row.address

    def _texts(self, brief: Brief) -> list[str]:
        return [block["text"] for block in (*system_of(brief), *user_of(brief))]

    def _provider(self) -> str:
        """Return the provider's name for the official host, `compatible` for any other.

        A ledger never holds the name of a host, because it may be private.
        """
        host = self._client.base_url.host if self._client is not None else ""
        return self.row.name if host == urlsplit(self.row.address).hostname else "compatible"

    def _keys(self) -> tuple[str, ...]:
        client = self._client
        # The SDK reads its keys from several places, so they are taken from the client, not from the environment.
        return (client.api_key or "", client.auth_token or "") if client is not None else ()

    def _has_key(self, client: Any) -> bool:
        # The SDK may also read credentials from a profile of its own, which it keeps under this name.
        return bool(client.api_key or client.auth_token or getattr(client, "credentials", None))

    async def _asked(self, client: Any, brief: Brief, manner: Manner) -> Any:
        return await client.messages.create(**self._body(brief, manner))

    def _body(self, brief: Brief, manner: Manner) -> dict[str, Any]:
        """Return the arguments of the request, without options that the server has refused."""
        is_enveloped = manner.form == "envelope"
        system, user = system_of(brief), user_of(brief, SCHEMA_HEADING if is_enveloped else PLAIN_HEADING)
        if not manner.marks_cache:
            system, user = _unmarked(system), _unmarked(user)
        body: dict[str, Any] = {"model": self.model, "max_tokens": manner.tokens_out_max, "stream": True}
        if manner.has_system:
            body["system"] = system
        else:
            # A server that takes no system message gets the same text at the start of the user's message.
            user = [*system, *user]
        body["messages"] = [{"role": "user", "content": user}]
        if is_enveloped:
            body["output_config"] = {"format": {"type": "json_schema", "schema": dict(ENVELOPE)}}
        return body

    def _take_whole(self, answer: Any, request: Request, heard: Heard) -> None:
        if not isinstance(member(answer, "content"), list):
            # Compatible servers may send an error with status 200 in place of the answer.
            raise ServerRefused(refusal_in(answer))
        heard.model = str(member(answer, "model") or "")
        _take_usage(member(answer, "usage"), heard)
        for block in rows_of(member(answer, "content")):
            text = member(block, "text")
            if member(block, "type") == "text" and isinstance(text, str):
                heard.add(text, request)
        # `add` sets a reason when it stops at the limit, whatever the server says of its end.
        heard.stop_reason = heard.stop_reason or named(member(answer, "stop_reason"))
        heard.complete = heard.final_usage = True

    def _take(self, event: Any, request: Request, heard: Heard) -> None:
        match member(event, "type"):
            case "message_start":
                message = member(event, "message")
                heard.model = str(member(message, "model") or "")
                _take_usage(member(message, "usage"), heard)
            case "content_block_delta":
                delta = member(event, "delta")
                text = member(delta, "text")
                if member(delta, "type") == "text_delta" and isinstance(text, str):
                    heard.add(text, request)
            case "message_delta":
                # The event may come again without a reason. Its usage is cumulative, so it replaces the counts of
                # `message_start`.
                heard.stop_reason = heard.stop_reason or named(member(member(event, "delta"), "stop_reason"))
                _take_usage(member(event, "usage"), heard)
                heard.final_usage = True
            case "message_stop":
                heard.complete = True
            case "error":
                # An overload can interrupt a stream; the tokens so far were used and are charged.
                raise ServerRefused(refusal_in(event), is_whole=False)
            case _:
                # Pings, thinking and block boundaries hold nothing that is kept.
                pass


def seat_of(wanted: Wanted) -> Seat:
    """Return a seat for a model behind the Messages API."""
    return AnthropicSeat(wanted.rest or wanted.row.model or "", wanted.row, prices=wanted.prices())


def _take_usage(usage: Any, heard: Heard) -> None:
    """Store token counts under our names; counts that the service leaves out keep their value."""
    for theirs, ours in _USAGE.items():
        value = member(usage, theirs)
        if value is not None:
            # An impossible count makes the cost of the reply unknown, never zero.
            heard.usage[ours] = counted(value)


def _unmarked(content: Content) -> Content:
    return [{name: value for name, value in block.items() if name != "cache_control"} for block in content]
