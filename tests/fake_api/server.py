"""The fake's server: HTTP and SSE on loopback, in a thread with an event loop of its own.

    with FakeApi(answer) as api:
        os.environ["ANTHROPIC_BASE_URL"] = api.url

`answer(prompt, body)` returns the text of a reply; `prompt` is every text block joined. Every response carries the
header `moot-simulated: fake`, every id begins with msg_fake_ or req_fake_.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

from tests.fake_api.cache import Accounted, Cache, tokens
from tests.fake_api.faults import Fault
from tests.fake_api.rules import KEY, MODELS, TYPES, blocks_of, refusal

CHUNK: Final = 400
HUGE_BYTES: Final = 10_000_000

Answerer = Callable[[str, dict[str, Any]], str]
Latency = Callable[[int, dict[str, Any]], tuple[float, float]]
"""(number of the request, body) → seconds until the first byte, and until the last."""


@dataclass
class Asked:
    """One request that reached the fake, with its place in time."""

    number: int
    body: dict[str, Any]
    headers: dict[str, str]
    at: float
    status: int = 200
    fault: Fault | None = None
    usage: dict[str, int] = field(default_factory=dict[str, int])
    ended: float = 0.0


class FakeApi:
    """The fake. `fault(n)` says what request n (from 1) suffers, None for nothing.

    What another API says in another way stands in the methods from `refusal` to `stream`.
    """

    path: ClassVar[str] = "/v1/messages"
    broken_at: ClassVar[int] = 4
    """The piece of a stream in whose place it breaks: words were said, the end is not."""

    def __init__(
        self,
        answer: Answerer,
        *,
        fault: Callable[[int], Fault | None] | None = None,
        latency: Latency | None = None,
        prefix_tokens_min: int = 1_024,
        caching: bool = True,
    ) -> None:
        self.answer = answer
        self.fault = fault or (lambda _: None)
        self.latency = latency
        self.caching = caching
        self.cache = Cache(prefix_tokens_min)
        self.log: list[Asked] = []
        self.in_flight = self.in_flight_max = 0
        self.url = ""
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**24), self._loop
        ).result()
        self._server = server
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs to reach the fake."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": KEY}

    async def _close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            # `close` would wait for a client that no longer reads, and the loop must turn once more to end the socket.
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "a callback of start_server runs as a task"
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its response; whether the connection can be used again."""
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = first.split(" ", 2)
        if method == "GET" and path.startswith("/v1/models"):
            models = [{"type": "model", "id": one, "display_name": one} for one in MODELS]
            return await _send(writer, 200, {"data": models, "has_more": False})
        if (method, path) != ("POST", self.path):
            return await _send(writer, 404, self.error(404, "as the test asked", path))
        asked = Asked(next(self._numbers), json.loads(content), headers, time.monotonic())
        self.log.append(asked)
        self.in_flight += 1
        self.in_flight_max = max(self.in_flight_max, self.in_flight)
        try:
            return await self._message(asked, writer)
        finally:
            self.in_flight -= 1
            asked.ended = time.monotonic()

    async def _message(self, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        refused = self.refusal(asked)
        if refused is not None:
            asked.status = refused[0]
            return await _send(writer, *refused)
        fault = asked.fault = self.fault(asked.number)
        if fault is not None and fault.kind == "drop":
            return False
        if fault is not None and fault.kind == "raw":
            asked.status = fault.status
            lines = "".join(f"{name}: {value}\r\n" for name, value in fault.headers.items())
            writer.write(f"HTTP/1.1 {fault.status} as asked\r\n{lines}connection: close\r\n\r\n".encode())
            writer.write(fault.content)
            await writer.drain()
            return False
        if fault is not None and fault.kind == "status":
            asked.status = fault.status
            return await _send(writer, fault.status, self.error(fault.status), dict(fault.headers))
        before, whole = self.latency(asked.number, asked.body) if self.latency else (0.0, 0.0)
        accounted = self._accounted(asked)
        await asyncio.sleep(before)
        self.cache.begun(accounted.writes, time.monotonic())
        if asked.body.get("stream"):
            return await self._stream(asked, accounted, writer, whole - before)
        await asyncio.sleep(whole - before)
        text, stop = self._text(asked)
        return await _send(writer, 200, self.whole(asked, text, stop, _usage(accounted, tokens(text))))

    def refusal(self, asked: Asked) -> tuple[int, dict[str, Any]] | None:
        """Status and body for a request that the API would not take."""
        refused = refusal(asked.headers, asked.body)
        return None if refused is None else (refused[0], _error(refused[1], refused[2]))

    def error(self, status: int, message: str = "as the test asked", about: str = "") -> dict[str, Any]:
        """The body of an error."""
        return _error(TYPES.get(status, "api_error"), f"{message} {about}".strip())

    def whole(self, asked: Asked, text: str, stop: str, usage: dict[str, int]) -> dict[str, Any]:
        """A reply that is not streamed."""
        content = [{"type": "text", "text": text}]
        return {**_message(asked, usage), "stop_reason": stop, "content": content}

    async def stream(
        self, asked: Asked, text: str, stop: str, usage: dict[str, int], seconds: float
    ) -> AsyncIterator[bytes]:
        """The pieces of a reply, each as the lines that are sent."""
        async for name, event in _events(asked, text, stop, usage, seconds):
            yield f"event: {name}\ndata: {json.dumps(event)}\n\n".encode()

    def stream_error(self) -> bytes:
        """An error in the middle of a stream."""
        error = _error("overloaded_error", "as the test asked")
        return f"event: error\ndata: {json.dumps(error)}\n\n".encode()

    def _accounted(self, asked: Asked) -> Accounted:
        if self.caching:
            return self.cache.account(asked.body, asked.at)
        return Accounted(sum(tokens(block["text"]) for block in blocks_of(asked.body)), 0, 0, ())

    def _text(self, asked: Asked) -> tuple[str, str]:
        kind = asked.fault.kind if asked.fault else None
        match kind:
            case "refusal":
                return "", "refusal"
            case "empty":
                return "", "end_turn"
            case "malformed":
                return "I agree with everything that was said.", "end_turn"
            case "schema":
                return json.dumps({"reply": json.dumps({"verdict": "fine"})}), "end_turn"
            case "huge":
                return "x" * HUGE_BYTES, "end_turn"
            case _:
                pass
        prompt = "\n".join(block["text"] for block in blocks_of(asked.body))
        text = self.answer(prompt, asked.body)
        if kind == "max_tokens":
            return text[: len(text) // 2], "max_tokens"
        return text, "end_turn"

    async def _stream(
        self, asked: Asked, accounted: Accounted, writer: asyncio.StreamWriter, seconds: float
    ) -> bool:
        """The events of one message, chunked; a stream always ends its connection."""
        text, stop = await asyncio.to_thread(self._text, asked)
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nmoot-simulated: fake\r\n"
            b"request-id: req_fake_%d\r\nconnection: close\r\n\r\n" % asked.number
        )
        usage = _usage(accounted, tokens(text))
        asked.usage = usage
        kind = asked.fault.kind if asked.fault else None
        count = 0
        async for line in self.stream(asked, text, stop, usage, seconds):
            count += 1
            if count == self.broken_at and kind == "half_line":
                writer.write(line[: len(line) // 2])
            if count == self.broken_at and kind == "stream_error":
                writer.write(self.stream_error())
            if count == self.broken_at and kind in ("half_line", "stream_error", "cut"):
                await writer.drain()
                return False
            writer.write(line)
            await writer.drain()
        return False


async def _events(
    asked: Asked, text: str, stop: str, usage: dict[str, int], seconds: float
) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    start = _message(asked, {**usage, "output_tokens": 1})
    yield "message_start", {"type": "message_start", "message": start}
    yield "ping", {"type": "ping"}
    yield (
        "content_block_start",
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    )
    size = max(CHUNK, len(text) // 200)
    for at in range(0, max(1, len(text)), size):
        said = text[at : at + size]
        await asyncio.sleep(seconds * len(said) / max(1, len(text)))
        piece = {"type": "text_delta", "text": said}
        yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": piece}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    delta = {"stop_reason": stop, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def _message(asked: Asked, usage: dict[str, int]) -> dict[str, Any]:
    return {
        "id": f"msg_fake_{asked.number}",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def _usage(accounted: Accounted, output: int) -> dict[str, int]:
    return {
        "input_tokens": accounted.uncached,
        "cache_read_input_tokens": accounted.read,
        "cache_creation_input_tokens": accounted.written,
        "output_tokens": max(1, output),
    }


def _error(kind: str, message: str) -> dict[str, Any]:
    return {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": "req_fake_error",
    }


async def _send(
    writer: asyncio.StreamWriter, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
) -> bool:
    content = json.dumps(body).encode()
    said = {
        "content-type": "application/json",
        "content-length": str(len(content)),
        "request-id": "req_fake_error",
        "moot-simulated": "fake",
        **(headers or {}),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())
    writer.write(f"HTTP/1.1 {status} as asked\r\n{lines}\r\n".encode() + content)
    await writer.drain()
    return True
