"""An honest fake of the Chat Completions API: the same server and faults as the fake of the Messages API.

    with FakeOpenAI(answer) as api:
        os.environ["OPENAI_BASE_URL"] = api.base_url

Its prefix cache is OpenAI's: nobody marks breakpoints, a prefix of 1,024 tokens is found again, in steps of 128.
Every response carries the header `moot-simulated: fake`, every id begins with chatcmpl-fake-.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, ClassVar, Final

from roles.seats.registry import PROVIDERS, Provider
from tests.fake_api.cache import TTL_SECONDS, Accounted
from tests.fake_api.openai_rules import KEY, OFFICIAL, Dialect, error, refusal
from tests.fake_api.rules import blocks_of
from tests.fake_api.server import CHUNK, Answerer, Asked, FakeApi

STEP_TOKENS: Final = 128
STOPS: Final = {"end_turn": "stop", "max_tokens": "length", "refusal": "stop"}
KINDS: Final = {429: "rate_limit_exceeded", 401: "invalid_request_error", 404: "invalid_request_error"}


class PrefixCache:
    """Hash of a prefix → when it was last used."""

    def __init__(self, prefix_tokens_min: int) -> None:
        self._least = prefix_tokens_min
        self._entries: dict[str, float] = {}

    def account(self, body: dict[str, Any], now: float) -> Accounted:
        """How the input divides; writing costs nothing here and is not counted."""
        text = "".join(block["text"] for block in blocks_of(body)).encode()
        total = (len(text) + 3) // 4
        digest = hashlib.sha256(json.dumps([body["model"], body.get("response_format")]).encode())
        keys: list[tuple[int, str]] = []
        for end in range(STEP_TOKENS, total + 1, STEP_TOKENS):
            digest.update(text[4 * (end - STEP_TOKENS) : 4 * end])
            if end >= self._least:
                keys.append((end, digest.hexdigest()))
        read = max(
            (end for end, key in keys if now - self._entries.get(key, -TTL_SECONDS) < TTL_SECONDS), default=0
        )
        return Accounted(total - read, read, 0, tuple(key for _, key in keys))

    def begun(self, writes: tuple[str, ...], now: float) -> None:
        """The response has begun: its prefixes can be read from now on."""
        self._entries.update(dict.fromkeys(writes, now))


class FakeOpenAI(FakeApi):
    """The fake; `dialect` says which server it is."""

    path: ClassVar[str] = "/v1/chat/completions"
    broken_at: ClassVar[int] = 2

    def __init__(self, answer: Answerer, *, dialect: Dialect = OFFICIAL, **options: Any) -> None:
        super().__init__(answer, **options)
        self.dialect = dialect
        self.cache: Any = PrefixCache(options.get("prefix_tokens_min", 1_024))

    @property
    def base_url(self) -> str:
        """Where the API begins."""
        return f"{self.url}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs to reach the fake."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": KEY}

    @property
    def row(self) -> Provider:
        """The fake in the place of OpenAI's own service, or as the compatible server that it is."""
        official = PROVIDERS["openai"]
        if self.dialect is not OFFICIAL:
            return official.at(self.base_url, {})
        return replace(official, address=self.base_url)

    def refusal(self, asked: Asked) -> tuple[int, dict[str, Any]] | None:
        return refusal(asked.headers, asked.body, self.dialect)

    def error(self, status: int, message: str = "as the test asked", about: str = "") -> dict[str, Any]:
        return error(KINDS.get(status, "server_error"), f"{message} {about}".strip())

    def whole(self, asked: Asked, text: str, stop: str, usage: dict[str, int]) -> dict[str, Any]:
        message = {"role": "assistant", "content": text or None, "refusal": _refusal(stop)}
        choice = {"index": 0, "message": message, "finish_reason": STOPS[stop]}
        return {**_chunk(asked, []), "object": "chat.completion", "choices": [choice], "usage": _usage(usage)}

    async def stream(
        self, asked: Asked, text: str, stop: str, usage: dict[str, int], seconds: float
    ) -> AsyncIterator[bytes]:
        first = {"role": "assistant", "content": "", "refusal": _refusal(stop)}
        yield _line(_chunk(asked, [_choice(first)]))
        size = max(CHUNK, len(text) // 200)
        for at in range(0, len(text), size):
            said = text[at : at + size]
            await asyncio.sleep(seconds * len(said) / len(text))
            yield _line(_chunk(asked, [_choice({"content": said})]))
        yield _line(_chunk(asked, [_choice({}, STOPS[stop])]))
        if (asked.body.get("stream_options") or {}).get("include_usage"):
            yield _line({**_chunk(asked, []), "usage": _usage(usage)})
        yield b"data: [DONE]\n\n"

    def stream_error(self) -> bytes:
        return _line(error("rate_limit_exceeded", "as the test asked"))


def _refusal(stop: str) -> str | None:
    return "I cannot help with that." if stop == "refusal" else None


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def _chunk(asked: Asked, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-fake-{asked.number}",
        "object": "chat.completion.chunk",
        "created": 1_800_000_000,
        "model": asked.body["model"],
        "choices": choices,
    }


def _usage(counted: dict[str, int]) -> dict[str, Any]:
    prompt = counted["input_tokens"] + counted["cache_read_input_tokens"]
    return {
        "prompt_tokens": prompt,
        "completion_tokens": counted["output_tokens"],
        "total_tokens": prompt + counted["output_tokens"],
        "prompt_tokens_details": {"cached_tokens": counted["cache_read_input_tokens"]},
    }


def _line(chunk: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()
