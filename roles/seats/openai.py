"""The `openai` seat: the Chat Completions API by the official SDK, of OpenAI or of any server that speaks it.

What it shares with other APIs is in `api.py`, what is known of a provider in its row of `registry.py`, what is left out
for a server that refuses it in `manner.py`.

A field of an answer may hold anything that JSON can: whatever is read here is asked for its type first.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from roles.brief import Brief
from roles.seats.api import (
    SECONDS_CONNECT_MAX,
    SECONDS_MAX,
    ApiSeat,
    Heard,
    ServerRefused,
)
from roles.seats.manner import Form, Manner
from roles.seats.port import AttemptLost, Request, Seat, SeatFailed, counted
from roles.seats.prices import Prices
from roles.seats.prompt import (
    ENVELOPE,
    PLAIN_HEADING,
    SCHEMA_HEADING,
    grammatical,
    system_of,
    user_of,
)
from roles.seats.registry import PROVIDERS, Provider, Wanted, declared_of
from roles.seats.server_words import Refusal, member, refusal_in, rows_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

NO_KEY: Final = "not-needed"
"""What is sent in place of a key to a server that asks for none; the SDK will not send nothing."""
QUOTA: Final = "insufficient_quota"
"""A 429 that waiting does not mend."""
STOPS: Final = {"content_filter": "refusal"}
"""Finish reasons by the name that other APIs give them."""


class OpenAISeat(ApiSeat):
    """A model behind the Chat Completions API of one endpoint."""

    api = "the Chat Completions API"

    def __init__(self, model: str, row: Provider, *, prices: Prices, **options: Any) -> None:
        super().__init__(model, row, prices=prices, **options)
        self.declared = declared_of(f"{row.name if row.name in PROVIDERS else row.seat}:{model}")

    def _connected(self, sdk: Any) -> AsyncOpenAI:
        """A client for this endpoint alone: another one gets no header that was set for OpenAI."""
        key = self.row.key_value
        if not key and self.row.needs_key:
            raise SeatFailed("unavailable", self.row.no_key, gone=True)
        ours = self.row.key == PROVIDERS["openai"].key
        client: AsyncOpenAI = sdk.AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=self.row.address,
            max_retries=0,
            timeout=sdk.Timeout(SECONDS_MAX, connect=SECONDS_CONNECT_MAX),
            default_headers=None if ours else _without_ambient(sdk, key or NO_KEY),
        )
        if not ours:
            client.organization = client.project = None
        return client

    def _texts(self, brief: Brief) -> list[str]:
        return [_system(brief), _user(brief, self._manner.form)]

    async def _asked(self, client: Any, brief: Brief, manner: Manner) -> Any:
        return await client.chat.completions.create(**self._asking(brief, manner))

    def _take_whole(self, answer: Any, request: Request, heard: Heard) -> None:
        self._take(answer, request, heard)

    def _asking(self, brief: Brief, manner: Manner) -> dict[str, Any]:
        """The request. Tools are off because none is offered; no sampling parameter is sent."""
        asking: dict[str, Any] = {
            "model": self.model,
            "messages": _messages(brief, manner),
            manner.limit: manner.tokens_out_max,
            "stream": True,
        }
        if manner.asks_usage:
            asking["stream_options"] = {"include_usage": True}
        if manner.form != "text":
            asking["response_format"] = _response_format(brief, manner.form)
        if self.row.takes_cache_key:
            asking["prompt_cache_key"] = hashlib.sha256(_system(brief).encode()).hexdigest()[:32]
        return asking

    def _refused(
        self, refusal: Refusal, heard: Heard, headers: Mapping[str, str], *, is_whole: bool = False
    ) -> AttemptLost:
        """As every API's; but a quota that is used up is not a rate."""
        lost = super()._refused(refusal, heard, headers, is_whole=is_whole)
        if refusal.status in (402, 429) and QUOTA in (refusal.kind, refusal.code):
            what = f"429 {QUOTA}: the account cannot pay: look at its billing"
            return AttemptLost(lost.reason, what, lost.used, again=False, gone=True)
        return lost

    def _take(self, event: Any, request: Request, heard: Heard) -> None:
        if event is None:
            return  # some servers keep a connection alive with `data: null`
        model = member(event, "model")
        if model or heard.model is None:
            heard.model = _name(model, self.model)
        error = member(event, "error")
        if error:
            raise ServerRefused(refusal_in({"error": error}), is_whole=False)
        if (usage := member(event, "usage")) is not None:
            self._take_usage(usage, heard)
        for choice in rows_of(member(event, "choices")):
            if member(choice, "index") not in (None, 0):
                continue  # one answer was asked for; a second one is not part of it
            delta = member(choice, "delta") or member(choice, "message")
            if member(delta, "refusal"):
                heard.stop_reason, heard.complete = "refusal", True
            if text := _text_of(member(delta, "content")):
                heard.add(text, request)
            if (finish := member(choice, "finish_reason")) is not None:
                heard.complete = True
                heard.stop_reason = heard.stop_reason or STOPS.get(str(finish), str(finish))

    def _take_usage(self, usage: Any, heard: Heard) -> None:
        """Counts of the last event. What was read from the cache is a part of the prompt here."""
        details = member(usage, "prompt_tokens_details")
        prompt, out = counted(member(usage, "prompt_tokens")), counted(member(usage, "completion_tokens"))
        read, written = _part(details, "cached_tokens"), _part(details, "cache_write_tokens")
        fresh = None
        if prompt is not None and read is not None and written is not None:
            fresh = prompt - read - written
            if fresh < 0:
                fresh = read = written = None  # a part cannot be more than the whole
        heard.usage = {"prompt": prompt, "uncached": fresh, "read": read, "written": written, "out": out}
        heard.final_usage = True
        cost = member(usage, "cost")
        if (
            self.row.says_usd
            and isinstance(cost, int | float)
            and not isinstance(cost, bool)
            and 0 <= cost < 1_000_000
        ):
            heard.said_usd = f"{Decimal(str(cost)):.6f}"


def seat_of(wanted: Wanted) -> Seat:
    """Return a seat for a model at OpenAI or at a server that speaks its API. Raises `ValueError` without a model.

    A key goes to the address that it was made for: OPENAI_API_KEY never reaches Ollama, OpenRouter or a URL that was
    named with a seat.
    """
    row = wanted.row.at(wanted.url, os.environ)
    model = wanted.rest or row.model
    if model is None:
        raise ValueError("a compatible server has no model that moot could choose")
    return OpenAISeat(model, row, prices=wanted.prices())


def _part(details: object, name: str) -> int | None:
    """Return a count of a part of the prompt: 0 where the server does not give it, None where it cannot be."""
    value = member(details, name)
    return 0 if value is None else counted(value)


def _text_of(content: object) -> str:
    """Return the text of a content: a string, or the text parts of a list. Thinking is no part of a reply."""
    if isinstance(content, str):
        return content
    parts = [part for part in rows_of(content) if member(part, "type") in ("text", "output_text", None)]
    return "".join(text for part in parts if isinstance(text := member(part, "text"), str))


def _without_ambient(sdk: Any, key: str) -> dict[str, Any]:
    """Headers that take the place of those in OPENAI_CUSTOM_HEADERS, which were set for another server."""
    said = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    names = [name.strip() for line in said if (name := line.partition(":")[0]).strip()]
    return {**{name: sdk.Omit() for name in names}, "Authorization": f"Bearer {key}"}


def _name(said: object, asked: str) -> str:
    """The model that answered, as the server calls it; a path on its disk is no name for a ledger."""
    name = str(said or "")
    return name if name and not name.startswith("/") else asked


def _messages(brief: Brief, manner: Manner) -> list[dict[str, str]]:
    system, user = _system(brief), _user(brief, manner.form)
    if manner.has_system:
        return [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return [{"role": "user", "content": f"{system}\n{user}"}]


def _system(brief: Brief) -> str:
    return "".join(block["text"] for block in system_of(brief))


def _user(brief: Brief, form: Form) -> str:
    heading = SCHEMA_HEADING if form == "envelope" else PLAIN_HEADING
    return "\n".join(block["text"] for block in user_of(brief, heading))


def _response_format(brief: Brief, form: Form) -> dict[str, Any]:
    if form == "json_object":
        return {"type": "json_object"}
    schema = dict(ENVELOPE) if form == "envelope" else grammatical(brief.schema)
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}
