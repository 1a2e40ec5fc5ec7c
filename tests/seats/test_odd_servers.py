"""Thousands of odd answers by the real SDKs: each ends as a reply, a refusal or a lost attempt, and counts are true.

`pytest -m campaign tests/seats/test_odd_servers.py` plays 2,000 per API; a slice of them is in the slow tests.

Of `roles/seats/manner.py`, `roles/seats/server_words.py`.
"""

from __future__ import annotations

import asyncio
import re
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from roles.seats.openai import OpenAISeat
from roles.seats.port import AttemptLost, Request, SeatFailed, SeatReply, Used, attempt
from roles.seats.prices import Tokens, read_prices
from roles.seats.registry import PROVIDERS
from tests.fake_api.openai_rules import KEY
from tests.rounds.openings import begin
from tests.seats.driven import anthropic_seat, environment
from tests.seats.odd_server import APIS, GOOD, MODEL, Answer, Api, OddServer, counts_in, odd

CASES: Final = 2_000
SLICE: Final = 60
SECONDS_MAX: Final = 30.0


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    """The first step of a run."""
    asked = begin(tmp_path / "run").pending()[0]
    return Request(asked.step, asked.brief)


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seats that run side by side set these for themselves; afterwards they are what they were."""
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "OPENAI_COMPATIBLE_API_KEY"):
        monkeypatch.setenv(name, "")


def seat_at(api: Api, url: str) -> Any:
    """A seat that asks the server."""
    if api == "messages":
        return anthropic_seat()
    row = PROVIDERS["openai"] if api == "chat" else PROVIDERS["ollama"]
    where = row.at(f"{url}/v1", {}) if api == "chat" else row.at(None, {"OLLAMA_HOST": url})
    return OpenAISeat(MODEL[api], where, prices=read_prices())


async def asked(api: Api, url: str, request: Request) -> SeatReply | SeatFailed:
    """Make one attempt."""
    with environment({"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY, "OPENAI_COMPATIBLE_API_KEY": KEY}):
        seat = seat_at(api, url)
        try:
            return await asyncio.wait_for(attempt(seat, request), SECONDS_MAX)
        except SeatFailed as failed:
            return failed
        finally:
            await seat.close()


def broken_promises(answer: Answer, end: SeatReply | SeatFailed) -> list[str]:
    """What an end says that the answer does not bear out."""
    broken: list[str] = []
    if answer.is_harmless and not (isinstance(end, SeatReply) and end.content == GOOD.encode()):
        broken.append(f"a harmless answer gave {end!r}"[:400])
    if isinstance(end, SeatFailed):
        if "broke down" in end.detail:
            broken.append(f"an exception left the adapter: {end.detail}")
        if KEY in end.detail or re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", end.detail):
            broken.append(f"detail: {end.detail!r}")
        if re.search("no key|the key has", end.detail):
            broken.append(f"blames the key: {end.detail}")
    if isinstance(end, SeatReply | AttemptLost):
        used = end if isinstance(end, SeatReply) else end.used
        is_refused = isinstance(end, AttemptLost) and used.tokens_in == used.tokens_out == 0
        broken += [] if is_refused else _wrong_counts(answer, used)
        broken += [] if is_refused else _wrong_cost(answer, used)
    return broken


def _wrong_counts(answer: Answer, used: SeatReply | Used) -> list[str]:
    counts = {
        name: counts_in(answer, name)
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens",
                     "prompt_tokens", "completion_tokens", "cached_tokens")
    }  # fmt: skip
    if answer.api == "messages":
        parts = (
            counts["input_tokens"],
            counts["cache_read_input_tokens"] | {0},
            counts["cache_creation_input_tokens"] | {0},
        )
        prompts, outs = {sum(part) for part in product(*parts)}, counts["output_tokens"]
    else:
        prompts, outs = counts["prompt_tokens"], counts["completion_tokens"]
    wrong = [] if used.tokens_in in {None, *prompts} else [f"tokens_in {used.tokens_in}, served {prompts}"]
    return wrong + (
        [] if used.tokens_out in {None, *outs} else [f"tokens_out {used.tokens_out}, served {outs}"]
    )


def _wrong_cost(answer: Answer, used: SeatReply | Used) -> list[str]:
    """A cost follows from known counts by the price list; where a count is unknown, so is the cost."""
    if used.cost_usd is None:
        return []
    counts = (used.tokens_in, used.tokens_cached, used.tokens_cache_write, used.tokens_out)
    if answer.api == "ollama":
        return [] if used.cost_usd == "0.000000" else [f"cost {used.cost_usd} of a free model"]
    if None in counts:
        return [f"cost {used.cost_usd} of unknown counts {counts}"]
    prompt, read, written, out = (count or 0 for count in counts)
    right = read_prices().usd(MODEL[answer.api], Tokens(prompt - read - written, read, written, out))
    return [] if used.cost_usd == right else [f"cost {used.cost_usd}, by the price list {right}"]


async def played(api: Api, numbers: range, request: Request) -> list[str]:
    """Play cases one after the other, each tenth beside a healthy seat; return what is wrong with which."""
    wrong: list[str] = []
    async with OddServer(api) as server, OddServer(api) as other:
        for number in numbers:
            server.answer = odd(api, number)
            if number % 10:
                end = await asked(api, server.url, request)
            else:
                task = asyncio.create_task(asked(api, other.url, request))
                await asyncio.sleep(0)  # the neighbor's client is made before this one's address is set
                end, neighbor = await asyncio.gather(asked(api, server.url, request), task)
                if not isinstance(neighbor, SeatReply) or neighbor.content != GOOD.encode():
                    wrong.append(f"{api} {number}: a healthy neighbor lost its reply: {neighbor!r}")
            changes = ", ".join(server.answer.changes)
            wrong += [
                f"{api} {number} ({changes}): {broken}" for broken in broken_promises(server.answer, end)
            ]
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_a_slice_of_odd_answers(api: Api, request_: Request) -> None:
    wrong = asyncio.run(played(api, range(SLICE), request_))
    assert not wrong, "\n".join(wrong)


@pytest.mark.campaign
@pytest.mark.parametrize("api", APIS)
def test_every_odd_answer_ends_as_a_reply_a_refusal_or_a_lost_attempt(api: Api, request_: Request) -> None:
    wrong = asyncio.run(played(api, range(CASES), request_))
    assert not wrong, "\n".join(wrong)
