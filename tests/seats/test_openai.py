"""The `openai` seat with the real SDK against the fake: what it asks for, keeps, leaves out, and how it fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from roles.seats.api import gone_of
from roles.seats.openai import OpenAISeat
from roles.seats.port import AttemptLost, Request, SeatFailed, SeatReply, attempt
from roles.seats.prices import read_prices
from roles.seats.registry import PROVIDERS, Provider, ollama_url
from tests.fake_api.faults import Fault, status
from tests.fake_api.openai_rules import COMPATIBLE, KEY, OLD
from tests.fake_api.openai_server import FakeOpenAI
from tests.rounds.openings import begin

REPLY = '{"sections": []}'
TEXT = json.dumps({"reply": REPLY})
MODEL = "gpt-6.2-sol"

Asking = Callable[..., SeatReply]


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


@pytest.fixture
def ask(request_: Request) -> Asking:
    """One attempt against a fake, or against another endpoint."""

    def asking(api: FakeOpenAI, row: Provider | None = None, model: str = MODEL, **options: Any) -> SeatReply:
        async def one() -> SeatReply:
            seat = OpenAISeat(model, row or api.row, prices=read_prices(), **options)
            try:
                return await attempt(seat, request_)
            finally:
                await seat.close()

        return asyncio.run(one())

    return asking


OLLAMA: Final = PROVIDERS["ollama"]


def at(api: FakeOpenAI, row: Provider) -> Provider:
    """A row of the registry, at the fake's address."""
    return replace(row, address=api.base_url)


def test_a_reply_is_unwrapped_counted_and_marked_as_fake(ask: Asking) -> None:
    with FakeOpenAI(lambda *_: TEXT) as api:
        reply = ask(api)
        again = ask(api)
    assert reply.content == REPLY.encode()
    assert (reply.seat, reply.provider, reply.simulated, reply.stop_reason) == (
        "openai",
        "fake",
        "fake",
        "stop",
    )
    assert Decimal(again.cost_usd or "0") < Decimal(reply.cost_usd or "0")
    assert reply.tokens_in == again.tokens_in == api.log[0].usage["input_tokens"]
    assert again.tokens_cached == api.log[1].usage["cache_read_input_tokens"]
    assert again.tokens_cached
    assert not reply.tokens_cached
    body = api.log[0].body
    assert not {"temperature", "top_p", "tools", "tool_choice", "max_tokens"} & body.keys()
    assert api.log[0].headers["x-stainless-retry-count"] == "0"
    assert len({one.body["prompt_cache_key"] for one in api.log}) == 1


def test_who_reads_along_hears_every_word_and_the_first_byte(request_: Request) -> None:
    heard: list[str] = []
    seat_hears = msgspec.structs.replace(request_, began=lambda: heard.append("began"), words=heard.append)
    long = json.dumps({"reply": json.dumps({"sections": ["word " * 500]})})
    with FakeOpenAI(lambda *_: long) as api:
        until_answered(seat_hears, api.row)
    assert heard[0] == "began"
    assert len(heard) > 3
    assert "".join(heard[1:]) == long


def test_the_request_is_the_brief_with_the_schema_before_what_is_the_steps_own(
    ask: Asking, request_: Request
) -> None:
    with FakeOpenAI(lambda *_: TEXT) as api:
        ask(api)
    system, user = api.log[0].body["messages"]
    assert system["content"].rstrip("\n") == request_.brief.blocks[0].text.rstrip("\n")
    at_, end = 0, ""
    for block in request_.brief.blocks[1:]:
        assert block.text.rstrip("\n") in user["content"]
        if block.scope != "step":
            at_, end = user["content"].index(block.text.rstrip("\n")), block.text
    schema = user["content"].index("Reply schema of this step")
    assert at_ + len(end.rstrip("\n")) <= schema
    assert user["content"].rstrip("\n").endswith(request_.brief.blocks[-1].text.rstrip("\n"))
    line = next(line for line in user["content"][schema:].splitlines() if line.startswith("{"))
    assert json.loads(line) == request_.brief.schema


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
        (status(503), "unavailable", True, False),
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
    with FakeOpenAI(lambda *_: TEXT, fault=lambda _: fault) as api, pytest.raises(AttemptLost) as lost:
        ask(api)
    assert (lost.value.reason, lost.value.again, lost.value.gone) == (reason, again, gone)
    assert len(api.log) == 1, "the SDK does not retry by itself"
    if fault.kind == "status":
        assert (lost.value.used.tokens_in, lost.value.used.cost_usd) == (0, "0.000000")
        assert lost.value.wait_seconds == (3600 if fault.headers.get("retry-after") else None)
        assert lost.value.overloaded == (fault.status in (429, 503))
    if fault.kind == "stream_error":
        assert lost.value.overloaded
        assert lost.value.used.cost_usd is None, "what the broken half cost is not known"


@pytest.mark.parametrize(
    ("kind", "stop", "content"),
    [
        ("refusal", "refusal", b""),
        ("empty", "stop", b""),
        ("malformed", "stop", b"I agree with everything that was said."),
        ("max_tokens", "length", TEXT[: len(TEXT) // 2].encode()),
    ],
)
def test_a_paid_reply_that_is_no_good_keeps_its_usage_and_text(
    ask: Asking, kind: Any, stop: str, content: bytes
) -> None:
    with FakeOpenAI(lambda *_: TEXT, fault=lambda _: Fault(kind)) as api:
        reply = ask(api)
    assert (reply.stop_reason, reply.content) == (stop, content)
    assert reply.tokens_in
    assert reply.cost_usd


def test_reading_stops_at_a_bound(ask: Asking) -> None:
    with FakeOpenAI(lambda *_: TEXT, fault=lambda _: Fault("huge")) as api:
        reply = ask(api)
    assert len(reply.content) == 1_000_000
    assert (reply.stop_reason, reply.tokens_out, reply.cost_usd) == ("max_tokens", None, None)


def test_a_wrong_key_a_missing_key_and_a_model_without_a_price(
    ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeOpenAI(lambda *_: TEXT) as api:
        assert ask(api, model="unpriced-1").cost_usd is None
        monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-wrong-0123456789")
        with pytest.raises(AttemptLost) as wrong:
            ask(api)
        assert "OPENAI_API_KEY" in wrong.value.detail
        assert "0123456789" not in wrong.value.detail
        monkeypatch.delenv("OPENAI_API_KEY")
        with pytest.raises(SeatFailed, match="no key: export OPENAI_API_KEY"):
            ask(api)


def test_a_quota_that_is_used_up_is_not_waited_for(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    used_up = {
        "error": {
            "message": "You exceeded your quota",
            "type": "insufficient_quota",
            "code": "insufficient_quota",
        }
    }
    monkeypatch.setattr(FakeOpenAI, "error", lambda *_: used_up)
    with FakeOpenAI(lambda *_: TEXT, fault=lambda _: status(429)) as api, pytest.raises(AttemptLost) as lost:
        ask(api)
    assert (lost.value.again, lost.value.gone) == (False, True)
    assert "billing" in lost.value.detail


def test_a_server_that_gives_the_key_back_is_not_believed(ask: Asking) -> None:
    escaped = "".join(f"\\u{ord(one):04X}" for one in KEY)
    with FakeOpenAI(lambda *_: '{"reply": "your key is ' + escaped + " or " + KEY + ' it is"}') as api:
        reply = ask(api)
    assert reply.content == b"your key is [key] or [key] it is"


# ---------------------------------------------------------------- what a server does not take


def until_answered(request: Request, row: Provider) -> tuple[SeatReply, list[AttemptLost]]:
    """The reply, and the attempts before it."""
    lost: list[AttemptLost] = []

    async def asked() -> SeatReply:
        seat = OpenAISeat(MODEL, row, prices=read_prices())
        try:
            while True:
                try:
                    return await attempt(seat, request)
                except AttemptLost as failure:
                    lost.append(failure)
                    if not failure.again:
                        raise
        finally:
            await seat.close()

    return asyncio.run(asked()), lost


def test_a_compatible_server_is_given_the_steps_own_schema_and_no_field_that_it_does_not_know(
    request_: Request,
) -> None:
    with FakeOpenAI(lambda *_: REPLY, dialect=COMPATIBLE) as api:
        reply, lost = until_answered(request_, api.row)
    assert lost == []
    assert reply.content == REPLY.encode()
    body = api.log[0].body
    form = body["response_format"]["json_schema"]
    assert form["schema"].keys() == request_.brief.schema.keys()
    assert "(?!" not in json.dumps(form)
    assert body["max_tokens"] == 8_192
    assert "prompt_cache_key" not in body
    assert api.row.name == "compatible"


def test_an_old_server_is_asked_more_plainly_step_by_step(request_: Request) -> None:
    with FakeOpenAI(lambda *_: f"<think>hm, {{</think>\n{REPLY}", dialect=OLD) as api:
        reply, lost = until_answered(request_, api.row)
    assert reply.content.strip() == REPLY.encode()
    assert [one.detail.partition(": ")[2].split(" from now on")[0] for one in lost] == [
        "no count of tokens",
        "replies as json_object",
        "replies as text",
    ]
    assert {(one.wait_seconds, one.used.cost_usd) for one in lost} == {(0.0, "0.000000")}
    assert "response_format" not in api.log[-1].body
    assert (reply.tokens_in, reply.cost_usd) == (None, None), "unknown, and never nothing"


def test_a_path_on_the_server_s_disk_is_no_name_of_a_model(
    ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """llama.cpp calls a model by the file that it was loaded from."""
    from tests.fake_api import openai_server

    chunk = openai_server._chunk
    path = {"model": "/home/somebody/models/qwen3.gguf"}
    monkeypatch.setattr(openai_server, "_chunk", lambda *given: {**chunk(*given), **path})
    with FakeOpenAI(lambda *_: TEXT, dialect=COMPATIBLE) as api:
        assert ask(api, model="qwen3:8b").model == "qwen3:8b"


def test_the_other_name_of_the_limit_is_tried_once(request_: Request) -> None:
    with FakeOpenAI(lambda *_: TEXT) as api:
        reply, lost = until_answered(request_, replace(api.row, limits=OLLAMA.limits))
        assert reply.content == REPLY.encode()
        assert [one.detail.partition(": ")[2].split()[0] for one in lost] == ["max_completion_tokens"]


# ---------------------------------------------------------------- addresses and their keys


def test_a_key_goes_to_its_own_address_alone(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-openai")
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS", "X-Gateway: gateway-secret-1\nAuthorization: Bearer other-secret-1"
    )
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-planted-99")
    with FakeOpenAI(lambda *_: REPLY, dialect=COMPATIBLE) as api:
        ask(api, at(api, OLLAMA), "qwen3:8b")
        ask(api, at(api, PROVIDERS["openrouter"]), MODEL)
        ask(api, PROVIDERS["openai"].at(api.base_url, {"OPENAI_BASE_URL": "http://elsewhere"}))
        ask(api, PROVIDERS["openai"].at(None, {"OPENAI_BASE_URL": api.base_url}))
    said = [one.headers for one in api.log]
    assert [headers["authorization"] for headers in said[:3]] == [
        "Bearer not-needed",
        "Bearer sk-or-planted-99",
        "Bearer not-needed",
    ]
    for headers in said[:3]:
        assert KEY not in json.dumps(headers)
        assert not {"x-gateway", "openai-organization", "openai-project"} & headers.keys()
    assert said[3]["x-gateway"] == "gateway-secret-1", "OPENAI_BASE_URL is what these headers were set for"


def test_a_model_on_ones_own_machine_costs_nothing_and_one_of_a_cloud_is_unknown(
    ask: Asking, request_: Request
) -> None:
    with FakeOpenAI(lambda *_: REPLY, dialect=COMPATIBLE) as api:
        reply = ask(api, at(api, OLLAMA), "qwen3:8b")
    assert (reply.cost_usd, reply.isolation) == ("0.000000", "enforced")
    own = OpenAISeat("qwen3:8b", OLLAMA, prices=read_prices())
    assert own.priced
    assert own.bound(request_).usd == 0
    assert own.bound(request_).tokens > 8_192
    cloud = OpenAISeat("gpt-oss:120b-cloud", OLLAMA, prices=read_prices())
    assert not cloud.priced
    assert cloud.bound(request_).usd is None


def test_a_price_that_openrouter_says_itself_is_kept(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.fake_api import openai_server

    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-planted-99")
    counted = openai_server._usage
    monkeypatch.setattr(openai_server, "_usage", lambda usage: {**counted(usage), "cost": 0.00123})
    with FakeOpenAI(lambda *_: TEXT, dialect=COMPATIBLE) as api:
        reply = ask(api, at(api, PROVIDERS["openrouter"]), MODEL)
        other = ask(api, PROVIDERS["openai"].at(api.base_url, {}), "unpriced-1")
    assert reply.cost_usd == "0.001230"
    assert other.cost_usd is None


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("box:1234", "http://box:1234/v1"),
        ("http://box", "http://box:80/v1"),
        ("https://box/ollama/", "https://box:443/ollama/v1"),
        ("[::1]:11434", "http://[::1]:11434/v1"),
    ],
)
def test_the_address_of_ollama_is_read_as_ollama_reads_it(host: str, url: str) -> None:
    assert ollama_url(host) == url


def test_every_provider_says_how_to_mend_what_is_missing() -> None:
    for row in PROVIDERS.values():
        if row.runs == "api":
            assert set(gone_of(row, "m")) == {401, 402, 403, 404}
            assert row.forms[-1] == "text"
    assert "ollama pull qwen3:8b" in gone_of(OLLAMA, "qwen3:8b")[404]
