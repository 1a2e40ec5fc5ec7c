"""Odd answers of servers, by the real SDKs: each ends as a reply, a refusal or a lost attempt with their words.

Of `roles/seats/reply_text.py`.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from roles.seats.openai import OpenAISeat
from roles.seats.port import AttemptLost, Request, Seat, SeatFailed, SeatReply, attempt
from roles.seats.prices import read_prices
from roles.seats.registry import PROVIDERS
from tests.fake_api.faults import Fault, events, raw
from tests.fake_api.openai_rules import COMPATIBLE, KEY
from tests.fake_api.openai_server import FakeOpenAI
from tests.fake_api.server import FakeApi
from tests.rounds.openings import begin
from tests.seats.driven import SERVICES, Service, anthropic_seat, environment
from tests.slowly import mostly_slow

USAGE = {"prompt_tokens": 900, "completion_tokens": 90, "total_tokens": 990}


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    """The first step of a run."""
    asked = begin(tmp_path / "run").pending()[0]
    return Request(asked.step, asked.brief)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of the fake, and nothing else that the SDK would read."""
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask_openai(request: Request, *answers: Fault | None, text: str = "") -> SeatReply:
    """One step against a server that answers so, lost attempts made again."""
    with FakeOpenAI(
        lambda *_: text or GOOD,
        dialect=COMPATIBLE,
        fault=lambda n: answers[n - 1] if n <= len(answers) else None,
    ) as api:
        return until_answered(OpenAISeat("gpt-6.2-sol", api.row, prices=read_prices()), request)


def ask_anthropic(request: Request, *answers: Fault | None) -> SeatReply:
    """The same with the Messages API."""
    fault = lambda n: answers[n - 1] if n <= len(answers) else None  # noqa: E731
    with FakeApi(lambda *_: json.dumps({"reply": GOOD}), fault=fault) as api, environment(api.environment):
        return until_answered(anthropic_seat(), request)


def until_answered(seat: Any, request: Request) -> SeatReply:
    async def asked() -> SeatReply:
        try:
            for again in (True,) * 5 + (False,):
                try:
                    return await attempt(seat, request)
                except AttemptLost as lost:
                    if not (again and lost.again):
                        raise
            raise AssertionError("the last attempt returns or raises")
        finally:
            await seat.close()

    return asyncio.run(asked())


SECTION = {"name": "answer", "text": "Use server-sent events."}
GOOD = json.dumps({"sections": [SECTION], "responds_to": [], "options": []})


def chunk(content: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk of a stream."""
    delta = {} if content is None else {"content": content}
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "gpt-6.2-sol"}
    return {**head, "choices": choices, **more}


def last(usage: Any) -> dict[str, Any]:
    """The last chunk of a stream, with its counts."""
    return {**chunk(), "choices": [], "usage": usage}


# ---------------------------------------------------------------- whole replies


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": None, "completion_tokens": None},
        {"prompt_tokens": -4, "completion_tokens": 3},
        {"prompt_tokens": 10**18, "completion_tokens": 3},
        {"prompt_tokens": "900", "completion_tokens": 3.5},
        {"prompt_tokens": True, "completion_tokens": False},
        [],
        "none",
        7,
    ],
    ids=repr,
)
def test_a_count_that_cannot_be_is_unknown_and_the_reply_is_kept(request_: Request, usage: Any) -> None:
    reply = ask_openai(request_, events(chunk(GOOD), chunk(finish="stop"), last(usage)))
    assert reply.content == GOOD.encode()
    assert (reply.tokens_in, reply.cost_usd) == (None, None)


def test_more_cached_tokens_than_the_prompt_has_leave_the_prompt_known_and_the_cost_unknown(
    request_: Request,
) -> None:
    usage = {**USAGE, "prompt_tokens_details": {"cached_tokens": 99_999}}
    reply = ask_openai(request_, events(chunk(GOOD), chunk(finish="stop"), last(usage)))
    assert (reply.tokens_in, reply.tokens_cached, reply.tokens_out) == (900, None, 90)
    assert reply.cost_usd is None


@pytest.mark.parametrize(
    "stream",
    [
        [
            chunk([{"type": "thinking", "thinking": [{"text": "hm"}]}]),
            chunk([{"type": "text", "text": GOOD}]),
        ],
        [None, chunk(GOOD), None],
        [{**chunk(), "choices": None}, chunk(GOOD)],
        [{**chunk(), "choices": [None, "x", 3]}, chunk(GOOD)],
        [{**chunk(), "choices": [{"index": 0, "delta": None}]}, chunk(GOOD)],
        [chunk(GOOD[:9], model="a\x00\x1b[31mmodel\u2028b"), chunk(GOOD[9:], model=None)],
        [chunk(GOOD), {**chunk("second"), "choices": [{"index": 1, "delta": {"content": "other"}}]}],
        ["text", 5, [], chunk(GOOD)],
    ],
    ids=["parts", "null", "no-choices", "odd-choices", "no-delta", "odd-names", "two-choices", "no-objects"],
)
def test_odd_chunks_around_a_whole_reply_cost_it_nothing(request_: Request, stream: list[Any]) -> None:
    reply = ask_openai(request_, events(*stream, chunk(finish="stop"), last(USAGE)))
    assert reply.content == GOOD.encode()
    assert (reply.model or "").isprintable()


def test_a_server_that_does_not_stream_is_read_all_the_same(request_: Request) -> None:
    message = {"role": "assistant", "content": GOOD}
    whole = {
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": USAGE,
    }
    assert ask_openai(request_, raw(whole)).tokens_in == 900
    block = {"type": "text", "text": GOOD}
    usage = {"input_tokens": 900, "output_tokens": 90}
    whole = {"type": "message", "model": "m", "content": [block], "stop_reason": "end_turn", "usage": usage}
    assert ask_anthropic(request_, raw(whole)).tokens_out == 90


@pytest.mark.parametrize(
    "text",
    [
        f"Here is the JSON:\n```json\n{GOOD}\n```\nHope that helps {{really}}.",
        f"```json\n{GOOD}",
        f"We weigh {{both}}.\n</think>\n\n{GOOD}",
        f'<thinking>{{"sections": []}}</thinking>{GOOD}',
        f"\ufeff{GOOD}",
        "```json\n" + json.dumps({"reply": GOOD}) + "\n```",
        json.dumps({"reply": json.loads(GOOD)}),
        json.dumps([{"type": "system"}, json.loads(GOOD)]),
        f"{GOOD}\n\nOnce more:\n{GOOD}",
    ],
    ids=[
        "prose",
        "open-fence",
        "end-of-think",
        "thinking",
        "bom",
        "fenced-envelope",
        "object",
        "array",
        "twice",
    ],
)
def test_the_one_reply_is_found_in_what_stands_around_it(request_: Request, text: str) -> None:
    reply = ask_openai(request_, text=text)
    assert json.loads(reply.content) == json.loads(GOOD)


def test_two_different_replies_are_not_chosen_between(request_: Request) -> None:
    other = GOOD.replace("server-sent events", "websockets")
    reply = ask_openai(request_, text=f"First:\n{GOOD}\nOr:\n{other}")
    assert "First" in reply.content.decode()


# ---------------------------------------------------------------- refusals and errors


def refused_with(request: Request, answer: Fault, ask: Callable[..., SeatReply] = ask_openai) -> AttemptLost:
    """The attempt that a step was lost by."""
    with pytest.raises(AttemptLost) as lost:
        ask(request, *[answer] * 6)
    return lost.value


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "the model is asleep", "type": "invalid_request_error"}},
        {"error": "the model is asleep"},
        {"detail": "the model is asleep"},
        {"detail": [{"loc": ["body", "n"], "msg": "the model is asleep", "input": {"n": 1}}]},
        {"message": "the model is asleep"},
        {"error": {"message": json.dumps({"error": {"message": "the model is asleep"}})}},
        [{"error": {"message": "the model is asleep"}}],
        b"the model is asleep",
        b"<!doctype html><html><title>the model is asleep</title></html>",
    ],
    ids=repr,
)
@pytest.mark.parametrize("code", mostly_slow([400, 503, 200, 429], quick=2))
def test_the_words_of_a_server_are_kept(request_: Request, body: Any, code: int) -> None:
    kind = "text/html" if isinstance(body, bytes) else "application/json"
    for ask in (ask_openai, ask_anthropic):
        lost = refused_with(request_, raw(body, code=code, kind=kind), ask)
        assert "the model is asleep" in lost.detail
        assert lost.again == (code in (429, 503))


@pytest.mark.parametrize(
    ("error", "again"),
    [
        ({"code": 400, "message": "prompt is too long"}, False),
        ({"type": "invalid_request_error", "message": "prompt is too long"}, False),
        ({"code": "context_length_exceeded", "message": "prompt is too long"}, False),
        ({"code": 502, "message": "prompt is too long"}, True),
        ("prompt is too long", True),
    ],
)
def test_an_error_inside_a_stream_is_told_and_not_repeated_in_vain(
    request_: Request, error: Any, again: bool
) -> None:
    lost = refused_with(request_, events(chunk("a"), {**chunk(), "choices": [], "error": error}))
    assert "prompt is too long" in lost.detail
    assert lost.again == again


def test_an_answer_that_the_server_filters_is_a_refusal_and_one_that_it_gives_up_is_lost(
    request_: Request,
) -> None:
    filtered = ask_openai(request_, events(chunk(GOOD[:20]), chunk(finish="content_filter"), last(USAGE)))
    assert filtered.stop_reason == "refusal"
    lost = refused_with(request_, events(chunk(GOOD[:20]), chunk(finish="error"), last(USAGE)))
    assert lost.again
    assert "error" in lost.detail


def test_a_key_in_the_words_of_a_server_is_masked(request_: Request) -> None:
    lost = refused_with(request_, raw({"detail": f"no such key: {KEY}"}, code=400))
    assert KEY not in lost.detail


# ---------------------------------------------------------------- what a server cannot do


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        ({"detail": [{"loc": ["body", "response_format"], "msg": "unexpected value"}]}, "response_format"),
        ({"detail": [{"loc": ["body", "stream_options"], "msg": "extra fields"}]}, "stream_options"),
    ],
)
def test_a_field_that_is_refused_in_any_words_is_left_out(
    request_: Request, words: Any, left_out: str
) -> None:
    def fault(_: int) -> Fault | None:
        return raw(words, code=422) if left_out in api.log[-1].body else None

    with FakeOpenAI(lambda *_: GOOD, dialect=COMPATIBLE, fault=fault) as api:
        seat = OpenAISeat("gpt-6.2-sol", api.row, prices=read_prices())
        assert until_answered(seat, request_).content == GOOD.encode()
        asked = len(api.log)
        assert until_answered(seat, request_).content == GOOD.encode()
        assert len(api.log) == asked + 1, "what was refused is remembered"


@pytest.mark.parametrize(
    "words",
    [
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "System role not supported",
        "Only user and assistant roles are supported! role 'system' is unknown",
    ],
)
@pytest.mark.parametrize("code", [400, 500])
def test_without_a_system_role_its_text_begins_the_prompt(request_: Request, words: str, code: int) -> None:
    def fault(_: int) -> Fault | None:
        has_system = api.log[-1].body["messages"][0]["role"] == "system"
        return raw({"error": {"message": words}}, code=code) if has_system else None

    with FakeOpenAI(lambda *_: GOOD, dialect=COMPATIBLE, fault=fault) as api:
        seat = OpenAISeat("gpt-6.2-sol", api.row, prices=read_prices())
        assert until_answered(seat, request_).content == GOOD.encode()
        (user,) = api.log[-1].body["messages"]
        assert user["content"].startswith(request_.brief.blocks[0].text.rstrip("\n"))


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        (
            "This model's maximum context length is 8192 tokens. However, you requested 10050 tokens"
            " (1858 in the messages, 8192 in the completion).",
            6_334,
        ),
        ("max_tokens is too large: 8192. This model supports at most 4096 completion tokens.", 4_096),
        ("max_tokens: 8192 > 2,048, which is the maximum allowed number of output tokens", 2_048),
        ("'max_tokens' must be less than or equal to 1024", 1_024),
    ],
)
def test_a_smaller_limit_is_asked_for_and_remembered(request_: Request, words: str, fits: int) -> None:
    def fault(_: int) -> Fault | None:
        body = api.log[-1].body
        return raw({"error": {"message": words}}, code=400) if body["max_tokens"] > fits else None

    with FakeOpenAI(lambda *_: GOOD, dialect=COMPATIBLE, fault=fault) as api:
        seat = OpenAISeat("gpt-6.2-sol", api.row, prices=read_prices())
        assert until_answered(seat, request_).content == GOOD.encode()
        assert len(api.log) == 2


def test_a_prompt_that_can_never_fit_is_not_sent_again(request_: Request) -> None:
    words = "This model's maximum context length is 4096 tokens. However, your messages have 90000 tokens."
    lost = refused_with(request_, raw({"error": {"message": words}}, code=400))
    assert not lost.again


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        ("output_config", "output_config: Extra inputs are not permitted"),
        ("cache_control", "messages.0.content.0.cache_control: Extra inputs are not permitted"),
    ],
)
def test_a_messages_server_that_knows_less_is_asked_for_less(
    request_: Request, refused: str, words: str
) -> None:
    def fault(_: int) -> Fault | None:
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
        return raw(error, code=400) if refused in json.dumps(api.log[-1].body) else None

    with FakeApi(lambda *_: GOOD, fault=fault) as api, environment(api.environment):
        assert until_answered(anthropic_seat(), request_).content == GOOD.encode()
        assert len(api.log) == 2


# ---------------------------------------------------------------- connections


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:9/v1", "connection refused"),
        ("http://no-such-host.invalid/v1", "unknown host"),
        ("127.0.0.1:8000/v1", "is not an address"),
        ("ftp://127.0.0.1/v1", "is not an address"),
    ],
)
def test_what_cannot_be_reached_is_named_once_with_its_cause(
    request_: Request, url: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with pytest.raises(SeatFailed) as failed:
        until_answered(OpenAISeat("m", PROVIDERS["openai"].at(url, {}), prices=read_prices()), request_)
    assert words in failed.value.detail
    assert url.split("/")[0] in failed.value.detail
    assert not getattr(failed.value, "again", False)


def test_tls_against_a_plain_server_is_named(request_: Request) -> None:
    # A real HTTP server answers the greeting of TLS with an error in plain text.
    server = ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seat = OpenAISeat(
        "m", PROVIDERS["openai"].at(f"https://127.0.0.1:{server.server_port}/v1", {}), prices=read_prices()
    )
    try:
        with pytest.raises(AttemptLost, match="TLS failed") as lost:
            until_answered(seat, request_)
    finally:
        server.shutdown()
        server.server_close()
    assert not lost.value.again


def _certificate(path: Path) -> Path:
    """A key and a certificate for this machine that nobody signed."""
    key = path.with_suffix(".key")
    openssl = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=localhost",
    ]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(path)]
    subprocess.run([*openssl, *names], check=True, capture_output=True)
    path.write_text(path.read_text() + key.read_text())
    return path


class _Answers(BaseHTTPRequestHandler):
    """Answers every request with a whole reply, and closes."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = events(chunk(GOOD), chunk(finish="stop"), last(USAGE)).content
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with openssl")
def test_a_certificate_that_is_not_trusted_is_not_tried_again_even_after_an_answer(
    request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts = [ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) for _ in range(2)]
    for number, context in enumerate(contexts):
        context.load_cert_chain(_certificate(tmp_path / f"{number}.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "0.pem"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    plain, using = server.socket, list(contexts)
    # The first connection is trusted; the certificate of all later ones is another.
    server.get_request = lambda: _wrapped(plain, using)  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    row = PROVIDERS["openai"].at(f"https://127.0.0.1:{server.server_port}/v1", {})
    seat = OpenAISeat("m", row, prices=read_prices())

    async def twice() -> None:
        try:
            assert (await attempt(seat, request_)).content == GOOD.encode()
            await attempt(seat, request_)
        finally:
            await seat.close()

    try:
        with pytest.raises(AttemptLost, match="certificate is not trusted") as lost:
            asyncio.run(twice())
    finally:
        server.shutdown()
        server.server_close()
    assert not lost.value.again


def _wrapped(plain: socket.socket, using: list[ssl.SSLContext]) -> tuple[socket.socket, Any]:
    connection, address = plain.accept()
    context = using.pop(0) if len(using) > 1 else using[0]
    try:
        return context.wrap_socket(connection, server_side=True), address
    except ssl.SSLError as error:
        raise OSError(str(error)) from error


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("OPENAI_API_KEY", "sk-proj-\u201cquoted\u201d-0123", "OPENAI_API_KEY"),
        ("OPENAI_API_KEY", "sk-proj-a\nb-0123456789", "OPENAI_API_KEY"),
        ("ALL_PROXY", "socks5://127.0.0.1:9", "SOCKS proxy"),
        ("SSL_CERT_FILE", "/nonexistent/ca.pem", "SSL_CERT_FILE"),
    ],
)
def test_an_environment_that_no_request_can_be_made_in_is_named(
    request_: Request, name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with FakeOpenAI(lambda *_: GOOD, dialect=COMPATIBLE) as api:
        seat = OpenAISeat(
            "m", PROVIDERS["openai"].at(None, {"OPENAI_BASE_URL": api.base_url}), prices=read_prices()
        )
        with pytest.raises(SeatFailed) as failed:
            until_answered(seat, request_)
        assert words in failed.value.detail
        assert not getattr(failed.value, "again", False)
        assert api.log == []


def test_a_key_with_a_line_feed_at_its_end_is_sent_without_it(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    with FakeOpenAI(lambda *_: GOOD) as api:
        until_answered(OpenAISeat("gpt-6.2-sol", api.row, prices=read_prices()), request_)
        assert api.log[0].headers["authorization"] == f"Bearer {KEY}"


# ---------------------------------------------------------------- anything at all

ODD: tuple[Any, ...] = (None, True, -1, 0, 1.5, 10**30, "", "x", "\x00\ud800", [], [None], {}, {"a": 1})


def _odd(chance: random.Random, value: Any) -> Any:
    """`value` with some of its parts replaced by other JSON."""
    if chance.random() < 0.12:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {key: _odd(chance, part) for key, part in value.items() if chance.random() > 0.05}
    return [_odd(chance, part) for part in value] if isinstance(value, list) else value


def _odd_answer(chance: random.Random, kind: str) -> Fault:
    if kind == "openai":
        parts = [
            chunk(GOOD),
            chunk(finish="stop"),
            last({**USAGE, "prompt_tokens_details": {"cached_tokens": 5}}),
        ]
        return events(*(_odd(chance, part) for part in parts))
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": {"input_tokens": 9},
    }
    rows: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": GOOD}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    lines = [f"event: {row['type']}\ndata: {json.dumps(_odd(chance, row))}\n\n" for row in rows]
    return raw("".join(lines).encode(), kind="text/event-stream")


def _ends_well(service: Service, request: Request, seeds: range) -> int:
    """Ask once per seed; how many replies came whole."""
    answers = [_odd_answer(random.Random(seed), service.kind) for seed in seeds]

    async def asked(seat: Seat) -> int:
        whole = 0
        for _ in answers:
            try:
                reply = await attempt(seat, request)
            except (AttemptLost, SeatFailed):
                continue
            for count in (reply.tokens_in, reply.tokens_out, reply.tokens_cached):
                assert count is None or 0 <= count <= 10_000_000
            whole += reply.content == GOOD.encode()
        return whole

    with service.fake(lambda *_: GOOD, fault=lambda n: answers[n - 1]) as fake, environment(fake.environment):
        return asyncio.run(asked(service.seat(fake)))


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.kind)
def test_nothing_but_a_reply_or_a_loss_leaves_a_seat(service: Service, request_: Request) -> None:
    assert _ends_well(service, request_, range(150)) > 0


@pytest.mark.campaign
@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.kind)
def test_nothing_but_a_reply_or_a_loss_leaves_a_seat_in_2000_answers(
    service: Service, request_: Request
) -> None:
    assert _ends_well(service, request_, range(1_000, 3_000)) > 0
