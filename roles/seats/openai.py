"""The `openai` seat: the Chat Completions API of OpenAI or any compatible server, through the official SDK.

Code that all APIs share is in `api.py`, facts about a provider in its row of `registry.py`, and fallbacks for servers
that refuse an option in `manner.py`.

A field of a response may hold any JSON value, so every value is checked for its type before use.
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
"""Placeholder key for a server that needs none; the SDK requires one."""
QUOTA: Final = "insufficient_quota"
"""Code of a 429 that does not pass with time."""
STOPS: Final = {"content_filter": "refusal"}
"""Finish reason → the name of the same stop reason in other APIs."""


class OpenAISeat(ApiSeat):
    """Seat of a model behind a Chat Completions endpoint."""

    api = "the Chat Completions API"

    def __init__(self, model: str, row: Provider, *, prices: Prices) -> None:
        super().__init__(model, row, prices=prices)
        self.declared = declared_of(f"{row.name if row.name in PROVIDERS else row.seat}:{model}")

    def _connected(self, sdk: Any) -> AsyncOpenAI:
        """Return a client for this endpoint. Headers set for OpenAI go where its key goes, and nowhere else."""
        key = self.row.key_value
        if not key and self.row.needs_key:
            raise SeatFailed("unavailable", self.row.no_key, gone=True)
        ours = self.row.key == PROVIDERS["openai"].key
        client: AsyncOpenAI = sdk.AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=self.row.address,
            # The driver retries, because it also counts the budget of every attempt.
            max_retries=0,
            timeout=sdk.Timeout(SECONDS_MAX, connect=SECONDS_CONNECT_MAX),
            # See the seat of Anthropic: otherwise a bad proxy leaves a traceback.
            http_client=sdk.DefaultAsyncHttpxClient(),
            default_headers=None if ours else _without_ambient(sdk, key or NO_KEY),
        )
        if not ours:
            # The SDK reads OPENAI_ORG_ID and OPENAI_PROJECT_ID, which must not reach another server.
            client.organization = client.project = None
        return client

    def _texts(self, brief: Brief) -> list[str]:
        return [_system(brief), _user(brief, self._manner.form)]

    async def _asked(self, client: Any, brief: Brief, manner: Manner) -> Any:
        return await client.chat.completions.create(**self._body(brief, manner))

    def _take_whole(self, answer: Any, request: Request, heard: Heard) -> None:
        self._take(answer, request, heard)

    def _body(self, brief: Brief, manner: Manner) -> dict[str, Any]:
        """Return the arguments of the request. No tool is offered and no sampling parameter is sent."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": _messages(brief, manner),
            manner.limit: manner.tokens_out_max,
            "stream": True,
        }
        if manner.asks_usage:
            body["stream_options"] = {"include_usage": True}
        if manner.form != "text":
            body["response_format"] = _response_format(brief, manner.form)
        if self.row.takes_cache_key:
            # Requests with the same key are routed to the same cache; the system message is the shared prefix.
            body["prompt_cache_key"] = hashlib.sha256(_system(brief).encode()).hexdigest()[:32]
        return body

    def _refused(
        self, refusal: Refusal, heard: Heard, headers: Mapping[str, str], *, is_whole: bool = False
    ) -> AttemptLost:
        """Return the failure for a refusal, as for every API. A used-up quota is not retried, unlike a rate limit."""
        lost = super()._refused(refusal, heard, headers, is_whole=is_whole)
        # OpenAI reports an empty account with the status of a rate limit.
        if refusal.status in (402, 429) and QUOTA in (refusal.kind, refusal.code):
            what = f"429 {QUOTA}: the account cannot pay: look at its billing"
            return AttemptLost(lost.reason, what, lost.used, again=False, gone=True)
        return lost

    def _take(self, event: Any, request: Request, heard: Heard) -> None:
        if event is None:
            # Some servers keep a connection alive with `data: null`.
            return
        model = member(event, "model")
        # The first event may lack the model, and a router names the real one only later.
        if model or heard.model is None:
            heard.model = _name(model, self.model)
        error = member(event, "error")
        if error:
            raise ServerRefused(refusal_in({"error": error}), is_whole=False)
        if (usage := member(event, "usage")) is not None:
            self._take_usage(usage, heard)
        for choice in rows_of(member(event, "choices")):
            if member(choice, "index") not in (None, 0):
                # One answer was requested; a second choice is not part of it.
                continue
            delta = member(choice, "delta") or member(choice, "message")
            # A refusal comes in a field of its own, with an ordinary finish reason after it.
            if member(delta, "refusal"):
                heard.stop_reason, heard.complete = "refusal", True
            if text := _text_of(member(delta, "content")):
                heard.add(text, request)
            if (finish := member(choice, "finish_reason")) is not None:
                heard.complete = True
                heard.stop_reason = heard.stop_reason or STOPS.get(str(finish), str(finish))

    def _take_usage(self, usage: Any, heard: Heard) -> None:
        """Store the token counts of the last event. In this API, cached tokens are part of the prompt."""
        details = member(usage, "prompt_tokens_details")
        prompt, out = counted(member(usage, "prompt_tokens")), counted(member(usage, "completion_tokens"))
        read, written = _part(details, "cached_tokens"), _part(details, "cache_write_tokens")
        fresh = None
        if prompt is not None and read is not None and written is not None:
            fresh = prompt - read - written
            if fresh < 0:
                # The parts exceed the whole, so none of them can be trusted.
                fresh = read = written = None
        heard.usage = {"prompt": prompt, "uncached": fresh, "read": read, "written": written, "out": out}
        heard.final_usage = True
        cost = member(usage, "cost")
        if (
            self.row.says_usd
            and isinstance(cost, int | float)
            and not isinstance(cost, bool)
            and 0 <= cost < 1_000_000
        ):
            # Through `str`, so that 0.1 stays 0.1; the ledger holds six decimals.
            heard.reported_usd = f"{Decimal(str(cost)):.6f}"


def seat_of(wanted: Wanted) -> Seat:
    """Return a seat for a model at OpenAI or at a compatible server. Raises `ValueError` without a model.

    OPENAI_API_KEY is sent to OpenAI or to the address in OPENAI_BASE_URL. It never reaches Ollama, OpenRouter or a URL
    in a specification.
    """
    row = wanted.row.at(wanted.url, os.environ)
    model = wanted.rest or row.model
    if model is None:
        raise ValueError("a compatible server has no model that moot could choose")
    return OpenAISeat(model, row, prices=wanted.prices())


def _part(details: object, name: str) -> int | None:
    """Return the count of a part of the prompt: 0 if the server leaves it out, None if it is not a valid count."""
    value = member(details, name)
    return 0 if value is None else counted(value)


def _text_of(content: object) -> str:
    """Return the text of a message: a string, or the text parts of a list, without thinking."""
    if isinstance(content, str):
        return content
    parts = [part for part in rows_of(content) if member(part, "type") in ("text", "output_text", None)]
    return "".join(text for part in parts if isinstance(text := member(part, "text"), str))


def _without_ambient(sdk: Any, key: str) -> dict[str, Any]:
    """Return headers that override those in OPENAI_CUSTOM_HEADERS, which were set for another server."""
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    names = [name.strip() for line in lines if (name := line.partition(":")[0]).strip()]
    return {**{name: sdk.Omit() for name in names}, "Authorization": f"Bearer {key}"}


def _name(reported: object, requested: str) -> str:
    """Return the server's name of the model that answered, or the requested name.

    Servers of local models may report a path on their disk, which is private and no name for a ledger.
    """
    name = str(reported or "")
    return name if name and not name.startswith("/") else requested


def _messages(brief: Brief, manner: Manner) -> list[dict[str, str]]:
    system, user = _system(brief), _user(brief, manner.form)
    if manner.has_system:
        return [{"role": "system", "content": system}, {"role": "user", "content": user}]
    # Chat templates of some models raise an error on a system message.
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
