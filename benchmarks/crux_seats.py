"""Recorded runs of crux by model seats, against the fake of the Messages API: their price, and how long they take.

The recorded replies are a language model's, of real length; the fake gives them again, step by step, to the real SDK.
Tokens are the fake's estimate (four bytes each), dollars are simulated with the installed prices. Each run is asked
twice, with the fake's prefix cache and without it.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.crux_runs import EXAMPLES, waves
from ledger.events import RunOpened
from ledger.state.book import Book
from ledger.store.store import RunStore
from moot.view.estimate import Dollars, estimate_of
from roles.seats.anthropic import MODEL, AnthropicSeat
from roles.seats.prices import read_prices
from rounds.run.driver import drive
from rounds.run.session import start
from rounds.run.verdicts import standard
from tests.fake_api.scripted import STEP, enveloped
from tests.fake_api.server import FakeApi
from tests.rounds.openings import clock
from tests.seats.driven import QUICK, environment

SECONDS: Final = (2.0, 20.0)
"""What a reply takes, drawn for each step."""
FIRST_BYTE: Final = 0.1
"""The share of it until the first byte."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A recorded run that was asked again: its ledger, and the seconds that it took."""

    book: Book
    seconds: float

    def tokens(self, field: str) -> int:
        """Tokens of one kind over all calls."""
        return sum(getattr(event.call, field) or 0 for event in self.book.events if event.call)

    @property
    def usd(self) -> Decimal:
        """What all calls cost."""
        return sum(
            (Decimal(event.call.cost_usd or "NaN") for event in self.book.events if event.call), Decimal(0)
        )

    @property
    def replies(self) -> int:
        """How many replies were given."""
        return sum(event.call is not None for event in self.book.events)


def asked_again(name: str, latency: Callable[..., tuple[float, float]] | None = None, **api: Any) -> Asked:
    """A recorded run with every seat a model's, who says what was said then."""
    recorded = RunStore(EXAMPLES / name).book()
    given = _replies(recorded)
    with tempfile.TemporaryDirectory() as directory:
        event, blobs = _opening(recorded)
        path = Path(directory) / "run"
        session = start(path, event, blobs=blobs, files={}, verdicts=standard, clock=clock(), sync=False)

        def answer(prompt: str, body: dict[str, Any]) -> str:
            step = next(step for step in STEP.findall(prompt)[::-1] if step in given)
            return enveloped(given[step], body)

        async def driven() -> float:
            seats = dict.fromkeys(session.book().state.roles, AnthropicSeat(prices=read_prices()))
            began = time.perf_counter()
            outcome = await drive(session, seats, monotonic=time.monotonic, retry=QUICK)
            assert outcome.state == "finished", outcome
            return time.perf_counter() - began

        with FakeApi(answer, latency=latency, **api) as fake, environment(fake.environment):
            seconds = asyncio.run(driven())
        book = session.book()
        assert set(_replies(book)) == set(given), "the run asked for other steps than the recorded one"
        return Asked(book, seconds)


def _replies(book: Book) -> dict[str, str]:
    return {
        str(event.step): (book.blobs.read(event.call.reply) or b"").decode()
        for event in book.events
        if event.call is not None
    }


def _opening(recorded: Book) -> tuple[RunOpened, dict[str, bytes]]:
    opened = recorded.state.opening
    named = (opened.prompt_set, opened.stop.params, *(one.sha256 for one in opened.context))
    cast = tuple(msgspec.structs.replace(one, seat="anthropic") for one in opened.cast)
    return msgspec.structs.replace(opened, cast=cast, at=""), {
        sha: recorded.blobs.read(sha) or b"" for sha in named
    }


def estimated(opened: RunOpened) -> tuple[int, Dollars]:
    """The most replies, and what they cost by the estimate that `moot new` and `moot run` show."""
    roles = [member.role for member in opened.cast]
    found = estimate_of("", opened, dict.fromkeys(roles, "anthropic"), {"anthropic": MODEL}, read_prices())
    assert found.usd is not None, f"{MODEL} has a price"
    return found.replies_at_most, found.usd


def priced(names: Sequence[str]) -> Iterator[bool]:
    """A row a run; whether what a reply cost lies within the estimate."""
    print(f"model {MODEL}; US dollars, simulated")
    print(
        f"{'run':18} {'replies':>7} {'tokens in':>9} {'read':>5} {'out':>7} {'cached':>7} {'uncached':>8}  estimate"
    )
    for name in names:
        cached, plain = asked_again(name), asked_again(name, caching=False)
        most, usd = estimated(cached.book.state.opening)
        share = Decimal(cached.replies) / most
        low, high = Decimal(usd.low) * share, Decimal(usd.high) * share
        print(
            f"{name:18} {cached.replies:7} {cached.tokens('tokens_in'):9,} "
            f"{cached.tokens('tokens_cached') / cached.tokens('tokens_in'):5.0%} {cached.tokens('tokens_out'):7,} "
            f"{cached.usd:7.3f} {plain.usd:8.3f}  {low:.3f} to {high:.3f} for as many "
            f"({usd.low} to {usd.high} for {most})"
        )
        yield low <= cached.usd and plain.usd <= high


def seconds_of(step: str) -> float:
    """What the reply of a step takes: drawn by its name, the same in every run."""
    return random.Random(step).uniform(*SECONDS)


def latency(_: int, body: dict[str, Any]) -> tuple[float, float]:
    """Seconds to the first byte and to the last of a request."""
    found = STEP.findall(body["messages"][0]["content"][-1]["text"])
    seconds = seconds_of(found[0])
    return FIRST_BYTE * seconds, seconds


def critical_path(book: Book) -> float:
    """The seconds that nothing could save: of each wave the slowest reply."""
    return sum(max(map(seconds_of, steps)) for steps in waves(book))


def timed(names: Sequence[str]) -> Iterator[float]:
    """A row a run; its wall time over its critical path."""
    asked_again(names[0])  # the SDK's import is not what is measured
    for name in names:
        found = asked_again(name, latency)
        path = critical_path(found.book)
        print(
            f"{name:18} {len(waves(found.book)):3} waves, critical path {path:.2f} s, took {found.seconds:.2f} s"
        )
        yield found.seconds / path
