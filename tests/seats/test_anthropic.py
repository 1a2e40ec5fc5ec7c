"""The `anthropic` seat with the real SDK against the fake: what it asks for, what it keeps, how it fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from roles.seats.port import AttemptLost, Request, SeatFailed, SeatReply, attempt
from tests.fake_api.faults import Fault, events, raw, status
from tests.fake_api.rules import KEY
from tests.fake_api.server import FakeApi
from tests.rounds.openings import begin
from tests.seats.driven import anthropic_seat

TEXT = json.dumps({"reply": '{"sections": []}'})


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    """The first step of a run."""
    asked = begin(tmp_path / "run").pending()[0]
    return Request(asked.step, asked.brief)


Asking = Callable[..., SeatReply]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, request_: Request) -> Asking:
    """One attempt against a fake with a fault."""

    def asking(api: FakeApi, *, key: str = KEY, **options: Any) -> SeatReply:
        for name, value in (api.environment | {"ANTHROPIC_API_KEY": key}).items():
            monkeypatch.setenv(name, value)

        async def one() -> SeatReply:
            seat = anthropic_seat(**options)
            try:
                return await attempt(seat, request_)
            finally:
                await seat.close()

        return asyncio.run(one())

    return asking


def test_a_reply_is_unwrapped_counted_and_marked_as_fake(ask: Asking) -> None:
    with FakeApi(lambda *_: TEXT) as api:
        reply = ask(api)
    assert reply.content == b'{"sections": []}'
    assert (reply.provider, reply.simulated, reply.stop_reason) == ("fake", "fake", "end_turn")
    assert reply.tokens_in == sum(
        api.log[0].usage[name]
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    assert Decimal(reply.cost_usd or "0") > 0
    body = api.log[0].body
    assert not {"temperature", "top_p", "top_k"} & body.keys()
    assert api.log[0].headers["x-stainless-retry-count"] == "0"


def test_the_request_is_the_brief_with_the_schema_before_what_is_the_steps_own(
    ask: Asking, request_: Request
) -> None:
    with FakeApi(lambda *_: TEXT) as api:
        ask(api)
    body = api.log[0].body
    sent = [*body["system"], *body["messages"][0]["content"]]
    texts = [block["text"].rstrip("\n") for block in sent]
    for block in request_.brief.blocks:
        assert block.text.rstrip("\n") in texts
    assert texts[-1] == request_.brief.blocks[-1].text.rstrip("\n")
    schema = next(text for text in texts if "JSON Schema" in text.splitlines()[0] and "{" in text)
    assert json.loads(schema[schema.index("{") :]) == request_.brief.schema
    assert 1 <= sum("cache_control" in block for block in sent) <= 4


@pytest.mark.parametrize(
    ("fault", "reason", "again", "gone"),
    [
        (status(401), "unavailable", False, True),
        (status(402), "unavailable", False, True),
        (status(403), "unavailable", False, True),
        (status(404), "unavailable", False, True),
        (status(400), "unavailable", False, False),
        (status(413), "unavailable", False, False),
        (status(408), "timeout", True, False),
        (status(429, retry_after="3600"), "unavailable", True, False),
        (status(500), "unavailable", True, False),
        (status(500, x_should_retry="false"), "unavailable", False, False),
        (status(529), "unavailable", True, False),
        (Fault("drop"), "unavailable", True, False),
        (Fault("cut"), "unavailable", True, False),
        (Fault("half_line"), "unavailable", True, False),
        (Fault("stream_error"), "unavailable", True, False),
    ],
    ids=lambda value: (
        value.kind + (str(value.status) if value.status else "") if isinstance(value, Fault) else ""
    ),
)
def test_a_lost_attempt_says_whether_another_may_help(
    ask: Asking, fault: Fault, reason: str, again: bool, gone: bool
) -> None:
    with FakeApi(lambda *_: TEXT, fault=lambda _: fault) as api, pytest.raises(AttemptLost) as lost:
        ask(api)
    assert (lost.value.reason, lost.value.again, lost.value.gone) == (reason, again, gone)
    assert len(api.log) == 1, "the SDK does not retry by itself"
    if fault.kind == "status":
        assert (lost.value.used.tokens_in, lost.value.used.cost_usd) == (0, "0.000000")
        assert lost.value.wait_seconds == (3600 if fault.headers.get("retry-after") else None)
    if fault.kind == "stream_error":
        assert lost.value.used.tokens_in
        assert lost.value.used.cost_usd is None, "what the broken half cost is not known"


@pytest.mark.parametrize(
    ("kind", "stop", "content"),
    [
        ("refusal", "refusal", b""),
        ("empty", "end_turn", b""),
        ("malformed", "end_turn", b"I agree with everything that was said."),
        ("max_tokens", "max_tokens", TEXT[: len(TEXT) // 2].encode()),
    ],
)
def test_a_paid_reply_that_is_no_good_keeps_its_usage_and_text(
    ask: Asking, kind: Any, stop: str, content: bytes
) -> None:
    with FakeApi(lambda *_: TEXT, fault=lambda _: Fault(kind)) as api:
        reply = ask(api)
    assert (reply.stop_reason, reply.content) == (stop, content)
    assert reply.tokens_in
    assert reply.cost_usd


def test_reading_stops_at_a_bound(ask: Asking) -> None:
    with FakeApi(lambda *_: TEXT, fault=lambda _: Fault("huge")) as api:
        reply = ask(api)
    assert len(reply.content) == 1_000_000
    assert (reply.stop_reason, reply.tokens_out, reply.cost_usd) == ("max_tokens", None, None)


def test_a_whole_answer_over_the_bound_says_that_it_was_cut(ask: Asking) -> None:
    """A server that does not stream ends its answer well, but the seat kept only a part of it."""

    def answer(text: str) -> Fault:
        return raw(
            {
                "type": "message",
                "model": "claude-sonnet-5-5",
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 900, "output_tokens": 90},
            }
        )

    for length, stop in ((1_000_000, "end_turn"), (1_000_001, "max_tokens")):
        whole = answer("x" * length)
        with FakeApi(lambda *_: TEXT, fault=partial(lambda fault, _: fault, whole)) as api:
            reply = ask(api)
        assert (len(reply.content), reply.stop_reason, reply.tokens_out) == (1_000_000, stop, 90)


def test_a_later_event_without_a_stop_reason_keeps_the_first(ask: Asking) -> None:
    def delta(stop: str | None) -> dict[str, Any]:
        return {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 90}}

    start = {"type": "message_start", "message": {"model": "claude-sonnet-5-5", "usage": {"input_tokens": 9}}}
    stream = events(start, delta("refusal"), delta(None), {"type": "message_stop"})
    with FakeApi(lambda *_: TEXT, fault=lambda _: stream) as api:
        assert ask(api).stop_reason == "refusal"


def test_a_wrong_key_a_missing_key_and_a_model_without_a_price(
    ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeApi(lambda *_: TEXT) as api:
        with pytest.raises(AttemptLost) as wrong:
            ask(api, key="sk-ant-wrong-0123456789")
        assert "ANTHROPIC_API_KEY" in wrong.value.detail
        assert "0123456789" not in wrong.value.detail
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        assert ask(api, model="claude-sonnet-5").cost_usd is None
        with pytest.raises(SeatFailed, match="no key"):
            ask(api, key="")


def test_a_server_that_gives_the_key_back_is_not_believed(ask: Asking) -> None:
    with FakeApi(lambda *_: json.dumps({"reply": f"your key is {KEY}"})) as api:
        reply = ask(api)
    assert reply.content == b"your key is [key]"


def test_a_key_in_escapes_and_in_pieces_reaches_neither_the_reply_nor_those_who_read_along(
    ask: Asking,
) -> None:
    """F-12: a server gives the key back in JSON escapes, and its stream cuts it anywhere."""
    escaped = "".join(f"\\u{ord(one):04X}" for one in KEY)
    with FakeApi(lambda *_: '{"reply": "your key is ' + escaped + " or " + KEY + ' it is"}') as api:
        reply = ask(api)
    assert reply.content == b"your key is [key] or [key] it is"
