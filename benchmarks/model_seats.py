"""Measure cost and time of model seats, with the real SDK against the fake of the Messages API.

    python -m benchmarks.model_seats tokens    standard-13: growth of the input, cache reads, cost against transcripts
    python -m benchmarks.model_seats document  the same with a document of 24 KB under discussion
    python -m benchmarks.model_seats time      two rounds with seeded latencies against the critical path of the steps

Tokens are the fake's estimate (four bytes each), dollars are simulated with the installed prices, replies are scripted.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from ledger.state.book import Book
from roles.seats.prices import Tokens, read_prices
from roles.seats.registry import PROVIDERS
from tests.fake_api.cache import tokens
from tests.fake_api.scripted import STEP
from tests.rounds import openings
from tests.rounds.openings import rows
from tests.rounds.scripted import Script
from tests.seats.driven import deliberate, opened

GROWTH_MAX: Final = 1.5
READ_MIN: Final = 0.75
COST_MAX: Final = 0.25
PATH_MAX: Final = 1.10
SCALE: Final = 0.1
"""Factor on the latency of a reply, which is two to twenty seconds."""
FIRST_BYTE: Final = 0.1
DOCUMENT_BYTES: Final = 24_000
OWN: Final = ("frame", "question", "goals", "role", "task")


def measure_tokens(document_bytes: int = 0) -> bool:
    """Measure input growth, cache reads and cost, and return whether all targets are met.

    A document under discussion is part of most briefs.
    """
    openings.DOCUMENT = b"one writer, many readers, no lost line\n" * (1 + document_bytes // 40)
    print(f"context document of {len(openings.DOCUMENT)} bytes")
    with tempfile.TemporaryDirectory() as directory:
        session = opened(Path(directory) / "run", "standard-13")
        outcome, _ = deliberate(session, script=Script(seed=3))
        assert outcome.state == "finished", outcome
        book = session.book()
        calls = [(event.round, event.call) for event in book.events if event.call is not None]
        by_round: dict[int, int] = defaultdict(int)
        for round_, call in calls:
            by_round[round_] += call.tokens_in or 0
        growth = by_round[11] / by_round[4]
        whole = sum(by_round.values())
        read = sum(call.tokens_cached or 0 for _, call in calls) / whole
        cost = sum(Decimal(call.cost_usd or "NaN") for _, call in calls)
        transcripts = _with_transcripts(book)
    print(f"calls {len(calls)}, input tokens {whole}, by round {dict(sorted(by_round.items()))}")
    met = [
        _line("input of round 11 against round 4", growth, GROWTH_MAX, at_most=True),
        _line("share of input read from the cache", read, READ_MIN, at_most=False),
        _line("cost against transcripts, uncached", float(cost / transcripts), COST_MAX, at_most=True),
    ]
    print(f"simulated ${cost} against ${transcripts}")
    return all(met)


def _with_transcripts(book: Book) -> Decimal:
    """Return the cost if every call got all replies so far, its own blocks and its schema, without a cache."""
    import orjson

    prices, total, transcript = read_prices(), Decimal(0), 0
    for event in book.events:
        if event.call is None:
            continue
        manifest = orjson.loads(book.blobs.read(event.call.brief) or b"{}")
        own = [block["sha256"] for block in manifest["blocks"] if _always(block["name"])]
        texts = [book.blobs.read(sha) or b"" for sha in (*own, manifest["schema"])]
        prompt = transcript + sum(tokens(text.decode()) for text in texts)
        usd = prices.usd(PROVIDERS["anthropic"].model or "", Tokens(prompt, 0, 0, event.call.tokens_out or 0))
        total += Decimal(usd or "NaN")
        transcript += tokens((book.blobs.read(event.call.reply) or b"").decode())
    return total


def _always(block: str) -> bool:
    """Return whether a block quotes no reply, so that it would be sent with a transcript too."""
    return block in OWN or block.startswith("K-")


def measure_time() -> bool:
    """Measure the time of staggered, parallel and sequential requests, and return whether the target is met."""
    spent: dict[str, float] = {}
    groups: list[list[str]] = []
    for name, driving in (("staggered", {}), ("together", {"staggered": False})):
        with tempfile.TemporaryDirectory() as directory:
            session = opened(Path(directory) / "run", rows(2))
            # The first run imports the SDK, which must not count.
            deliberate(opened(Path(directory) / "warm"))
            began = time.perf_counter()
            outcome, _ = deliberate(session, latency=_latency, driving=driving)
            spent[name] = time.perf_counter() - began
            assert outcome.state == "finished", outcome
            groups = _groups(session.book())
    alone = [sum(_seconds(step) for step in group) for group in groups]
    together = sum(max(_seconds(step) for step in group) for group in groups)
    path = sum(_staggered(group) for group in groups)
    met = _line("wall time against the critical path", spent["staggered"] / path, PATH_MAX, at_most=True)
    print(f"staggered {spent['staggered']:.2f} s (critical path {path:.2f} s)")
    print(f"without staggering {spent['together']:.2f} s (critical path {together:.2f} s)")
    print(f"one after another {sum(alone):.2f} s: {sum(alone) / spent['staggered']:.1f} × as long")
    return met


def _groups(book: Book) -> list[list[str]]:
    """Return the steps of each group, in the order of their requests."""
    from rounds.protocols import protocol_of

    opened_ = book.state.opened
    assert opened_ is not None
    protocol = protocol_of(opened_)
    groups: list[list[str]] = []
    for round_ in sorted(book.state.rounds):
        for group in protocol.groups(book.state, round_):
            asked = [step.id for step in group.steps if step.id in book.state.answered]
            groups += [asked] if asked else []
    return groups


def _staggered(group: list[str]) -> float:
    first, *others = map(_seconds, group)
    return max([first, *(FIRST_BYTE * first + other for other in others)])


def _seconds(step: str) -> float:
    return random.Random(step).uniform(2, 20) * SCALE


def _latency(_: int, body: dict[str, Any]) -> tuple[float, float]:
    match = STEP.search(body["messages"][0]["content"][-1]["text"])
    assert match is not None
    seconds = _seconds(match[0])
    return FIRST_BYTE * seconds, seconds


def _line(name: str, value: float, target: float, *, at_most: bool) -> bool:
    met = value <= target if at_most else value >= target
    print(
        f"{name:36} {value:5.2f}  target {'≤' if at_most else '≥'} {target:.2f}  {'met' if met else 'MISSED'}"
    )
    return met


MEASURES: Final[dict[str, Callable[[], bool]]] = {
    "tokens": measure_tokens,
    "document": lambda: measure_tokens(DOCUMENT_BYTES),
    "time": measure_time,
}


def main(arguments: list[str]) -> int:
    """Run the named measurements, or all; return 1 when a target is missed."""
    met = [MEASURES[name]() for name in arguments or MEASURES]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
