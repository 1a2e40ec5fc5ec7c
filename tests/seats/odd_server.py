"""A generator of odd answers, and the honest local server that sends them byte by byte.

A healthy answer of an API is changed a few times. Harmless changes must leave the reply whole: other chunk boundaries,
comments, line ends, unknown fields. Harmful ones may cost the reply, never anything else. A case is its number: the
same number makes the same bytes.
"""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Api = Literal["messages", "chat", "ollama"]
APIS: Final[tuple[Api, ...]] = ("messages", "chat", "ollama")
GOOD: Final = json.dumps(
    {
        "sections": [{"name": "answer", "text": "Use SSE: 服务器推送, naïve 🚀."}],
        "responds_to": [],
        "options": [],
    },
    ensure_ascii=False,
)
MODEL: Final = {"messages": "claude-sonnet-5-5", "chat": "gpt-6.2-sol", "ollama": "qwen3:8b"}
COUNTS: Final = {
    "messages": ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"),
    "chat": ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens"),
    "ollama": ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens"),
}
ODD_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    -1,
    7,
    3.5,
    10**18,
    -(10**30),
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "900",
    "\x00\x1b[31m",
    "\ud800",
    "è" * 3_000,
    [],
    {},
    [None],
    [[[[]]]],
    {"text": 7},
    {"message": {"message": {}}},
    [{"type": "text", "text": "y"}],
)
STATUSES: Final = (
    200,
    201,
    202,
    203,
    204,
    205,
    206,
    226,
    299,
    300,
    304,
    305,
    400,
    401,
    402,
    403,
    404,
    405,
    406,
    408,
    409,
    410,
    411,
    413,
    414,
    415,
    418,
    421,
    422,
    424,
    425,
    426,
    428,
    429,
    431,
    451,
    499,
    500,
    501,
    502,
    503,
    504,
    507,
    508,
    511,
    520,
    529,
    530,
    599,
    600,
    999,
)
KINDS: Final = (
    "application/json",
    "text/event-stream",
    "text/html",
    "text/html; charset=utf-16",
    "text/plain",
    "application/x-ndjson",
    "application/problem+json",
    "text/event-stream; charset=latin-1",
    "image/png",
    "",
    "nonsense",
    "application/json;;;=",
)


@dataclass(slots=True)
class Answer:
    """What is sent. `events` become the body of a stream, unless `body` is set."""

    api: Api
    events: list[Any]
    """Each is (name, JSON value), or bytes that are sent as they are."""
    whole: Any
    """The same as one JSON value."""
    body: bytes | None = None
    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=lambda: [("content-type", "text/event-stream")])
    before: bytes = b""
    line_end: str = "\n"
    length: Literal["none", "right", "chunked", "long", "short", "broken chunks"] = "none"
    pieces: int = 1
    changes: list[str] = field(default_factory=list[str])
    is_harmless: bool = True
    sent: tuple[Any, ...] = ()
    """What `body` was made of: later changes of `events` are not sent."""

    @property
    def content(self) -> bytes:
        """The body before it is divided."""
        if self.body is not None:
            return self.body
        return b"".join(e if isinstance(e, bytes) else self._spelled(*e) for e in self.events)

    def _spelled(self, name: str, value: Any) -> bytes:
        head = f"event: {name}{self.line_end}" if name else ""
        return f"{head}data: {spelled(value)}{self.line_end * 2}".encode("utf-8", "surrogatepass")

    def put(self, name: str, value: str) -> None:
        """Set a header."""
        self.headers = [(key, old) for key, old in self.headers if key != name] + [(name, value)]


def spelled(value: Any) -> str:
    """Return a value as JSON, as a server would write it."""
    return json.dumps(value, ensure_ascii=False)


def healthy(api: Api) -> Answer:
    """Return a whole and good answer of an API."""
    if api == "messages":
        usage = {
            "input_tokens": 900,
            "cache_read_input_tokens": 40,
            "cache_creation_input_tokens": 60,
            "output_tokens": 90,
        }
        text = json.dumps({"reply": GOOD}, ensure_ascii=False)
        message = {
            "id": "msg_fake_1",
            "type": "message",
            "role": "assistant",
            "model": MODEL[api],
            "content": [],
        }
        start = {
            **message,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**usage, "output_tokens": 1},
        }
        events: list[Any] = [("message_start", {"type": "message_start", "message": start})]
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        events.append(("content_block_start", block))
        for piece in _cut(text, 5):
            delta = {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            }
            events.append(("content_block_delta", delta))
        events.append(("content_block_stop", {"type": "content_block_stop", "index": 0}))
        end = {"stop_reason": "end_turn", "stop_sequence": None}
        events.append(("message_delta", {"type": "message_delta", "delta": end, "usage": usage}))
        events.append(("message_stop", {"type": "message_stop"}))
        content = [{"type": "text", "text": text}]
        return Answer(api, events, {**message, "content": content, "stop_reason": "end_turn", "usage": usage})
    details = {"cached_tokens": 40} if api == "chat" else {}
    counts = {"prompt_tokens": 1000, "completion_tokens": 90, "total_tokens": 1090}
    reported: dict[str, Any] = {**counts, **({"prompt_tokens_details": details} if details else {})}
    head = {"id": "chatcmpl-fake-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL[api]}

    def choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    events = [("", choice({"role": "assistant", "content": ""}))]
    events += [("", choice({"content": piece})) for piece in _cut(GOOD, 5)]
    events += [
        ("", choice({}, "stop")),
        ("", {**head, "choices": [], "usage": reported}),
        b"data: [DONE]\n\n",
    ]
    message = {"role": "assistant", "content": GOOD}
    whole = {
        **head,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": reported,
    }
    return Answer(api, events, whole)


def _cut(text: str, parts: int) -> list[str]:
    size = -(-len(text) // parts)
    return [text[at : at + size] for at in range(0, len(text), size)]


# ---------------------------------------------------------------- harmless changes


def _pieces(answer: Answer, chance: random.Random) -> None:
    answer.pieces = chance.choice((2, 7, 50, 10_000))  # the last one sends byte by byte, inside letters too


def _comments(answer: Answer, chance: random.Random) -> None:
    odd = (
        b": keep-alive\n\n",
        b":\n\n",
        b"\n\n\n",
        b":\n",
        b"retry: 10\n\n",
        b"id: 7\n\n",
        b": \xe6\x9c\x80\n\n",
    )
    for _ in range(chance.randint(1, 4)):
        answer.events.insert(chance.randint(0, len(answer.events)), chance.choice(odd))


def _unknown_events(answer: Answer, chance: random.Random) -> None:
    at = chance.randint(1, len(answer.events) - 2)
    if answer.api == "messages":
        answer.events.insert(
            at, chance.choice([("ping", {"type": "ping"}), ("ping", {"type": "ping", "cost": 7})])
        )
    else:
        answer.events.insert(at, ("", {"id": "x", "object": "chat.completion.chunk", "choices": []}))


def _more_fields(answer: Answer, chance: random.Random) -> None:
    for event in answer.events:
        if not isinstance(event, bytes) and chance.random() < 0.5:
            event[1][chance.choice(("x_groq", "obfuscation", "système", "provider"))] = chance.choice(
                ODD_VALUES[:15]
            )


def _other_order(answer: Answer, chance: random.Random) -> None:
    answer.events = [e if isinstance(e, bytes) else (e[0], _shuffled(e[1], chance)) for e in answer.events]


def _shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        names = list(value)
        chance.shuffle(names)
        return {name: _shuffled(value[name], chance) for name in names}
    return value


def _line_ends(answer: Answer, _: random.Random) -> None:
    answer.line_end = "\r\n"


def _length(answer: Answer, chance: random.Random) -> None:
    answer.length = chance.choice(("right", "chunked"))


def _gzip(answer: Answer, chance: random.Random) -> None:
    name = chance.choice(("gzip", "deflate"))
    answer.body = gzip.compress(answer.content) if name == "gzip" else zlib.compress(answer.content)
    answer.put("content-encoding", name)


def _early_hints(answer: Answer, chance: random.Random) -> None:
    code = chance.choice((100, 102, 103))
    answer.before = f"HTTP/1.1 {code} early\r\nlink: </style.css>\r\n\r\n".encode() * chance.randint(1, 3)


def _same_usage_twice(answer: Answer, _: random.Random) -> None:
    at = next(n for n, e in enumerate(answer.events) if not isinstance(e, bytes) and "usage" in e[1])
    answer.events.insert(at, answer.events[at])


HARMLESS: Final[tuple[Callable[[Answer, random.Random], None], ...]] = (
    _pieces,
    _comments,
    _unknown_events,
    _more_fields,
    _other_order,
    _line_ends,
    _length,
    _early_hints,
    _same_usage_twice,
    _gzip,
)


# ---------------------------------------------------------------- harmful changes


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a value as its container and key."""
    items: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def _odd_member(answer: Answer, chance: random.Random) -> None:
    """A value anywhere in the answer becomes another one, or is gone."""
    events = [e[1] for e in answer.events if not isinstance(e, bytes)]
    container, key = chance.choice(list(_places(chance.choice([*events, answer.whole]))))
    if chance.random() < 0.25 and isinstance(container, dict):
        del container[key]
    else:
        container[key] = json.loads(json.dumps(chance.choice(ODD_VALUES)))


def _odd_usage(answer: Answer, chance: random.Random) -> None:
    """A count becomes something else."""
    roots = [*(e[1] for e in answer.events if not isinstance(e, bytes)), answer.whole]
    places = [(c, k) for root in roots for c, k in _places(root) if k in (*COUNTS[answer.api], "usage")]
    for container, key in chance.sample(places, min(len(places), chance.randint(1, 4))):
        container[key] = chance.choice(ODD_VALUES)


def _odd_event(answer: Answer, chance: random.Random) -> None:
    odd = (
        b"data: null\n\n",
        b"data:\n\n",
        b"data: [DONE]\n\n",
        b"data: {\n\n",
        b"data: 7\n\n",
        b'data: "text"\n\n',
        b"data: []\n\n",
        b"event: error\ndata: {}\n\n",
        b'event: error\ndata: {"error": "overloaded"}\n\n',
        b'data: {"error": {"message": "out of memory", "code": 500}}\n\n',
        b'data: {"error": null}\n\n',
        b'data: {"error": "boom"}\n\n',
        b"data: \xff\xfe\n\n",
        b"\xef\xbb\xbf",
        b"data: \x00\n\n",
        b"garbage\n\n",
        b'data: {"choices": [{"delta": {"content": "a"}, "delta": 7}]}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
        b'event: message_stop\ndata: {"type": "message_stop"}\n\n',
        b"event: nonsense\ndata: {}\n\n",
        b"data: NaN\n\n",
        b'data: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n',
        b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n',
        b'data: {"type":\ndata: "ping"}\n\n',
    )
    for _ in range(chance.randint(1, 3)):
        answer.events.insert(chance.randint(0, len(answer.events)), chance.choice(odd))


def _lost_event(answer: Answer, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 3)):
        if answer.events:
            del answer.events[chance.randrange(len(answer.events))]


def _moved_event(answer: Answer, chance: random.Random) -> None:
    chance.shuffle(answer.events)


def _twice(answer: Answer, chance: random.Random) -> None:
    if answer.events:
        event = chance.choice(answer.events)
        answer.events += [event] * chance.choice((1, 2, 500))


def _whole(answer: Answer, chance: random.Random) -> None:
    """One JSON value instead of a stream, whatever the header says."""
    values: tuple[Any, ...] = (
        answer.whole,
        [answer.whole],
        {"data": answer.whole},
        spelled(answer.whole),
        None,
        [],
        {},
        7,
        "fine",
    )
    answer.body = spelled(chance.choice(values) if chance.random() < 0.5 else answer.whole).encode(
        "utf-8", "surrogatepass"
    )
    answer.put("content-type", chance.choice(KINDS[:3]))


def _status(answer: Answer, chance: random.Random) -> None:
    answer.status = chance.choice(STATUSES)
    if chance.random() < 0.8:
        bodies: tuple[Any, ...] = (
            {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": None}},
            {"error": "no such model"},
            {"detail": [{"loc": ["body", "max_tokens"], "msg": "too many"}]},
            {"detail": "Not Found"},
            {"message": ["a", {"b": 7}]},
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            {"error": {"code": "500", "message": 7}},
            {"error": {"message": "max_tokens must be at most 4096"}},
            {"error": {"message": "system role is not supported"}},
            {"error": {"message": "response_format json_schema output_config is not supported"}},
            {"error": []},
            [],
            None,
            7,
            "plain",
            {"error": {"message": "stream_options is unknown, cache_control too"}},
            {"errors": [{"title": "x" * 70_000}]},
        )
        pages = (
            b"<!DOCTYPE html><html><title>502 Bad Gateway</title></html>",
            b"",
            b"\xff\xfe<\x00h\x00",
            b"upstream error",
            b"{",
        )
        answer.body = (
            chance.choice(pages) if chance.random() < 0.3 else spelled(chance.choice(bodies)).encode()
        )
        answer.put("content-type", chance.choice(KINDS))
    for name in ("retry-after", "retry-after-ms", "x-should-retry"):
        if chance.random() < 0.3:
            answer.put(
                name,
                chance.choice(
                    ("0", "1", "-1", "1e9", "soon", "", "99999999999999", "true", "Wed, 21 Oct 2015")
                ),
            )


def _redirect(answer: Answer, chance: random.Random) -> None:
    answer.status = chance.choice((301, 302, 303, 307, 308))
    answer.body = b""
    answer.sent = (*_roots(answer), healthy(answer.api).whole)  # the client may be sent on to the healthy one
    if chance.random() < 0.9:
        where = (
            "/elsewhere",
            "elsewhere",
            "http://127.0.0.1:9/v1",
            "//",
            "",
            "ftp://x",
            "http://[",
            "?",
            "\u20ac",
            "/healthy",
        )
        answer.put("location", chance.choice(where))


def _odd_bytes(answer: Answer, chance: random.Random) -> None:
    body = bytearray(answer.content)
    for _ in range(chance.randint(1, 6)):
        body.insert(
            chance.randint(0, len(body)),
            chance.choice((0, 0xFF, 0xC3, 0xED, 0x80, 0x0A, 0x0D, 0x22, 0x7B, 0x5C)),
        )
    answer.body = bytes(body)


def _cut_off(answer: Answer, chance: random.Random) -> None:
    answer.body = answer.content[: chance.randint(0, len(answer.content))]


def _trailing(answer: Answer, chance: random.Random) -> None:
    garbage = (b"garbage", b"HTTP/1.1 200 OK\r\n\r\n", b"\x00" * 5_000, b"data: {", b"\n\ndata: 7\n\n")
    answer.body = answer.content + chance.choice(garbage)


def _encoding(answer: Answer, chance: random.Random) -> None:
    name = chance.choice(("gzip", "deflate", "br", "zstd", "identity", "nonsense", "gzip, gzip"))
    zipped = gzip.compress(answer.content)
    answer.body = chance.choice(
        (zipped[: chance.randint(0, len(zipped))], answer.content, zipped + b"more", b"")
    )
    answer.put("content-encoding", name)


def _kind(answer: Answer, chance: random.Random) -> None:
    answer.put("content-type", chance.choice(KINDS))
    if chance.random() < 0.3:
        answer.body = answer.content.decode("utf-8", "replace").encode(
            chance.choice(("utf-16", "utf-32", "utf-8-sig"))
        )


def _bad_length(answer: Answer, chance: random.Random) -> None:
    answer.length = chance.choice(("long", "short", "broken chunks"))


def _bad_head(answer: Answer, chance: random.Random) -> None:
    heads = (
        b"",
        b"HTTP/1.1\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"\x15\x03\x01\x00\x02\x02",
        b"<html>",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * 200_000,
        b"HTTP/1.1 101 Switching\r\nupgrade: websocket\r\n\r\n",
    )
    answer.before, answer.status, answer.body = chance.choice(heads), -1, b""


def _huge(answer: Answer, chance: random.Random) -> None:
    text = chance.choice(("x" * 3_000_000, "{" * 50_000, "é" * 700_000))
    for event in answer.events:
        for container, key in [] if isinstance(event, bytes) else list(_places(event[1])):
            if key in ("text", "content") and container[key]:
                container[key] = text
                return


HARMFUL: Final[tuple[Callable[[Answer, random.Random], None], ...]] = (
    _odd_member,
    _odd_member,
    _odd_member,
    _odd_usage,
    _odd_usage,
    _odd_event,
    _odd_event,
    _lost_event,
    _moved_event,
    _twice,
    _whole,
    _status,
    _status,
    _redirect,
    _odd_bytes,
    _cut_off,
    _trailing,
    _encoding,
    _kind,
    _bad_length,
    _bad_head,
    _huge,
)


def odd(api: Api, number: int) -> Answer:
    """Return the answer of a case."""
    chance = random.Random(f"{api} {number}")
    answer = healthy(api)
    harmless = chance.sample(HARMLESS[:-1], chance.randint(0, 3)) + [HARMLESS[-1]] * (chance.random() < 0.1)
    for change in sorted(harmless, key=HARMLESS.index):
        change(answer, chance)
        answer.changes.append(change.__name__)
        _keep(answer)
    if chance.random() < 0.75:
        answer.is_harmless = False
        for change in chance.choices(HARMFUL, k=chance.choice((1, 1, 1, 2, 3))):
            with suppress(IndexError):
                change(answer, chance)
            answer.changes.append(change.__name__)
            _keep(answer)
    return answer


def _keep(answer: Answer) -> None:
    if answer.body is not None and not answer.sent:
        answer.sent = tuple(copy.deepcopy(_roots(answer)))


def _roots(answer: Answer) -> list[Any]:
    return [*(e[1] for e in answer.events if not isinstance(e, bytes)), answer.whole]


# ---------------------------------------------------------------- the server


class OddServer:
    """Sends `answer` to whoever asks, in the event loop of its client; `/healthy` always gets a healthy one."""

    def __init__(self, api: Api) -> None:
        self.api: Api = api
        self.answer = healthy(api)
        self.asked = 0
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> OddServer:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**24)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            # A client may have left in the middle of a huge answer, and `close` would wait for it.
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (x for x in head.lower().split(b"\r\n") if x.startswith(b"content-length:")), b": 0"
            )
            await reader.readexactly(int(length.partition(b":")[2]))
            is_healthy = b"/healthy" in head.partition(b"\r\n")[0]
            self.asked += not is_healthy
            await self._send(healthy(self.api) if is_healthy else self.answer, writer)
        writer.close()

    async def _send(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        body = answer.content
        if answer.status >= 0:
            headers = [f"{name}: {value}" for name, value in answer.headers if value]
            match answer.length:
                case "right" | "long" | "short":
                    by = {"right": 0, "long": 50, "short": -50}[answer.length]
                    headers.append(f"content-length: {max(0, len(body) + by)}")
                case "chunked" | "broken chunks":
                    headers.append("transfer-encoding: chunked")
                    sizes = ("%x" if answer.length == "chunked" else "%xg", "0")
                    body = (
                        f"{sizes[0] % len(body)}\r\n".encode()
                        + body
                        + b"\r\n"
                        + f"{sizes[1]}\r\n\r\n".encode()
                    )
                case "none":
                    pass
            head = "\r\n".join([f"HTTP/1.1 {answer.status} odd", *headers, "connection: close", "", ""])
            writer.write(answer.before + head.encode("latin-1", "replace"))
        else:
            writer.write(answer.before)
        size = max(1, -(-len(body) // answer.pieces))
        size = max(size, len(body) // 3_000)  # a huge body byte by byte would take minutes
        for at in range(0, len(body), size):
            writer.write(body[at : at + size])
            await writer.drain()
            await asyncio.sleep(0)
        await writer.drain()


def counts_in(answer: Answer, name: str) -> set[int]:
    """Return every possible count that an answer gives under a name."""
    values: list[Any] = [
        c[k] for root in answer.sent or _roots(answer) for c, k in _places(root) if k == name
    ]
    return {
        value
        for value in values
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**7
    }
