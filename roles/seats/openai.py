"""The `openai` seat: the Chat Completions API by the official SDK, of OpenAI or of any server that speaks it.

What it shares with other APIs is in `api.py`, what is known of an address in `endpoints.py`. What a server does not
take is left out from then on: a refused request used nothing, is an attempt on the record, and the next is plainer.

    response_format    the first form of the endpoint, then the next: schema, any JSON object, plain text
    the limit          max_completion_tokens or max_tokens, then the other
    stream_options     then without: tokens and cost of the reply are unknown
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable
from decimal import Decimal
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ledger.events.envelope import SeatKind
from roles.brief import Brief
from roles.seats.api import (
    SECONDS_CONNECT_MAX,
    SECONDS_MAX,
    SIMULATED,
    ApiSeat,
    ApiWords,
    Heard,
    kind_of,
    message_of,
    nothing_used,
)
from roles.seats.endpoints import NO_KEY, Endpoint, Form, Limit
from roles.seats.kinds import KINDS, declared_of
from roles.seats.port import AttemptLost, Bound, Request, SeatFailed
from roles.seats.prices import Prices, Tokens
from roles.seats.prompt import (
    ENVELOPE,
    PLAIN_HEADING,
    SCHEMA_HEADING,
    grammatical,
    system_of,
    unwrapped,
    user_of,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

INSTALL: Final = "the openai SDK is not installed: pip install 'openai>=3.54'"
FREE: Final = "0.000000"
QUOTA: Final = "insufficient_quota"
"""A 429 that waiting does not mend."""
SPEAKS_OF_FORM: Final = re.compile(
    r"response_format|json_schema|json_object|schema|grammar|structured", re.IGNORECASE
)
REFUSES: Final = frozenset({400, 404, 415, 422, 501})
"""Statuses by which servers say that they do not know a field."""
THOUGHTS: Final = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
"""What some servers leave in front of a reply: the model's thinking, which is none of it."""


class Manner(NamedTuple):
    """How a request is put to a server."""

    form: Form
    limit: Limit
    limit_was_refused: bool = False
    asks_usage: bool = True


class OpenAISeat(ApiSeat):
    """A model behind the Chat Completions API of one endpoint."""

    kind: SeatKind = "openai"

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        prices: Prices,
        tokens_out_max: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        most = tokens_out_max or endpoint.tokens_out_max
        words = words_of(endpoint)
        super().__init__(model, words, prices=prices, tokens_out_max=most, monotonic=monotonic)
        self.endpoint = endpoint
        self._manner = Manner(endpoint.forms[0], endpoint.limit)
        kind = endpoint.name if endpoint.name in KINDS else "openai"
        self.declared = declared_of(f"{kind}:{model}")

    @property
    def priced(self) -> bool:
        """Whether it is known beforehand what a reply can cost."""
        return self.endpoint.is_free or super().priced

    def bound(self, request: Request) -> Bound:
        """The same; a model on somebody's own machine costs nothing."""
        bound = super().bound(request)
        return Bound(bound.tokens, Decimal(0)) if self.endpoint.is_free else bound

    def _usd(self, tokens: Tokens) -> str | None:
        return FREE if self.endpoint.is_free else super()._usd(tokens)

    def _sdk(self) -> ModuleType:
        import openai

        return openai

    def _base_error(self, sdk: ModuleType) -> type[Exception]:
        error: type[Exception] = sdk.OpenAIError
        return error

    def _connected(self, sdk: ModuleType) -> AsyncOpenAI:
        """A client for this endpoint alone: another one gets no header that was set for OpenAI."""
        key = self.endpoint.key
        if not key and self.endpoint.needs_key:
            raise SeatFailed("unavailable", self._words.no_key, gone=True)
        ours = self.endpoint.is_official or self.endpoint.key_variable == "OPENAI_API_KEY"
        client: AsyncOpenAI = sdk.AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=self.endpoint.url,
            max_retries=0,
            timeout=sdk.Timeout(SECONDS_MAX, connect=SECONDS_CONNECT_MAX),
            default_headers=None if ours else _without_ambient(sdk, key or NO_KEY),
        )
        if not ours:
            client.organization = client.project = None
        return client

    def _texts(self, brief: Brief) -> list[str]:
        return [_system(brief), _user(brief, self._manner.form)]

    def _content(self, text: str) -> bytes:
        return unwrapped(THOUGHTS.sub("", text, count=1) if THOUGHTS.match(text) else text)

    def _provider(self) -> str:
        return self.endpoint.name

    def _keys(self) -> tuple[str, ...]:
        return (self.endpoint.key,)

    async def _listen(self, client: Any, request: Request, heard: Heard) -> None:
        import openai

        manner = self._manner
        try:
            stream: Any = await client.chat.completions.create(**self._asking(request.brief, manner))
        except openai.APIStatusError as error:
            self._put_plainer(error, manner, heard)
            raise
        async with stream:
            heard.simulated = stream.response.headers.get(SIMULATED) == "fake"
            async for chunk in stream:
                if heard.model is None:
                    request.began()
                self._take(chunk, request, heard)
                if heard.is_too_long:
                    return

    def _asking(self, brief: Brief, manner: Manner) -> dict[str, Any]:
        """The request. Tools are off because none is offered; no sampling parameter is sent."""
        asking: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": _system(brief)},
                {"role": "user", "content": _user(brief, manner.form)},
            ],
            manner.limit: self._tokens_out_max,
            "stream": True,
        }
        if manner.asks_usage:
            asking["stream_options"] = {"include_usage": True}
        if manner.form != "text":
            asking["response_format"] = _response_format(brief, manner.form)
        if self.endpoint.is_official:
            asking["prompt_cache_key"] = hashlib.sha256(_system(brief).encode()).hexdigest()[:32]
        return asking

    def _put_plainer(self, error: Any, asked: Manner, heard: Heard) -> None:
        """Leave out what the server does not take. Raises `AttemptLost` when the next attempt will be another one."""
        said = f"{message_of(error)} {error.param or ''} {error.code or ''}"
        plainer = without_refused(asked, said, self.endpoint.forms) if error.status_code in REFUSES else None
        if plainer is None:
            return
        if self._manner == asked:
            self._manner = plainer
        latency = round((self._monotonic() - heard.began_s) * 1000)
        what = f"{error.status_code} {kind_of(error) or 'error'}: {_told(asked, plainer)}"
        raise AttemptLost("unavailable", what, nothing_used(latency), wait_seconds=0.0)

    def _refused(self, error: Any, heard: Heard) -> AttemptLost:
        """As every API's; but a quota that is used up is not a rate."""
        lost = super()._refused(error, heard)
        if error.status_code == 429 and QUOTA in (error.code, error.type):
            what = f"429 {QUOTA}: the account cannot pay: look at its billing"
            return AttemptLost(lost.reason, what, lost.used, again=False, gone=True)
        return lost

    def _take(self, chunk: Any, request: Request, heard: Heard) -> None:
        if chunk.model or heard.model is None:
            heard.model = _name(chunk.model, self.model)
        if chunk.usage is not None:
            self._take_usage(chunk.usage, heard)
        for choice in chunk.choices or ():
            delta = choice.delta
            if getattr(delta, "refusal", None):
                heard.stop_reason, heard.complete = "refusal", True
            if delta is not None and delta.content:
                heard.add(delta.content, request)
            if choice.finish_reason is not None:
                heard.complete = True
                heard.stop_reason = heard.stop_reason or str(choice.finish_reason)

    def _take_usage(self, usage: Any, heard: Heard) -> None:
        """Counts of the last chunk. What was read from the cache is a part of the prompt here."""
        details = usage.prompt_tokens_details
        read = (details.cached_tokens or 0) if details is not None else 0
        written = (getattr(details, "cache_write_tokens", None) or 0) if details is not None else 0
        read, written = min(read, usage.prompt_tokens), min(written, usage.prompt_tokens - read)
        heard.usage = {
            "uncached": usage.prompt_tokens - read - written,
            "read": read,
            "written": written,
            "out": usage.completion_tokens,
        }
        heard.final_usage = True
        cost = getattr(usage, "cost", None)
        if self.endpoint.says_usd and isinstance(cost, int | float) and 0 <= cost < 1_000_000:
            heard.said_usd = f"{Decimal(str(cost)):.6f}"


def words_of(endpoint: Endpoint) -> ApiWords:
    """How an endpoint is spoken of."""
    variable = endpoint.key_variable or "its configuration"
    return ApiWords(
        api="the Chat Completions API",
        install=INSTALL,
        no_key=f"no key: export {variable}=…",
        gone={
            401: f"the key was not accepted: check {variable}",
            402: "the account cannot pay: look at its billing",
            403: "the key may not do this: check its permissions",
            404: endpoint.no_model,
        },
    )


def without_refused(manner: Manner, said: str, forms: tuple[Form, ...]) -> Manner | None:
    """The manner without what an error speaks of; None when it speaks of nothing that can be left out."""
    if manner.asks_usage and "stream_options" in said:
        return manner._replace(asks_usage=False)
    if manner.limit in said and not manner.limit_was_refused:
        other: Limit = "max_tokens" if manner.limit == "max_completion_tokens" else "max_completion_tokens"
        return manner._replace(limit=other, limit_was_refused=True)
    if manner.form != "text" and SPEAKS_OF_FORM.search(said):
        return manner._replace(form=forms[forms.index(manner.form) + 1])
    return None


def _told(asked: Manner, plainer: Manner) -> str:
    """What the server did not take, and what is asked for from now on."""
    if asked.form != plainer.form:
        return f"replies as {plainer.form} from now on, since the server does not take the form {asked.form}"
    if asked.limit != plainer.limit:
        return f"{plainer.limit} from now on, since the server does not take {asked.limit}"
    return "no count of tokens from now on, since the server does not take stream_options"


def _without_ambient(sdk: ModuleType, key: str) -> dict[str, Any]:
    """Headers that take the place of those in OPENAI_CUSTOM_HEADERS, which were set for another server."""
    said = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    names = [name.strip() for line in said if (name := line.partition(":")[0]).strip()]
    return {**{name: sdk.Omit() for name in names}, "Authorization": f"Bearer {key}"}


def _name(said: object, asked: str) -> str:
    """The model that answered, as the server calls it; a path on its disk is no name for a ledger."""
    name = str(said or "")
    return name if name and not name.startswith("/") else asked


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
