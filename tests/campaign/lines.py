"""Fuzzed lines: moot and a second reader, made from the documentation, agree on each; none crashes or stalls."""

from __future__ import annotations

import random
import resource
import time
from copy import deepcopy
from typing import Any, Final

import orjson
from hypothesis import HealthCheck, Phase, given, seed, settings

from ledger.events import KINDS
from ledger.format.canonical import NotCanonical, OtherVersion, decode
from tests.campaign.slices import Counts, expect
from tests.oracles.second_reader import verdict
from tests.properties.test_codec import ODD_VALUES
from tests.security.mutations import damaged_bytes, damaged_value
from tests.strategies import Document, documents

LINES: Final = 40_000
"""A slice."""
LAWFUL_OF_A_KIND: Final = 25
SECONDS_MAX: Final = 1.0
KIBIBYTES_MAX: Final = 128 * 1024
"""How much a slice may add to the memory of its process."""


def fuzzed(index: int, slices: int) -> Counts:
    """Lawful lines of every kind, and what becomes of them when values and bytes are damaged."""
    rng, counts = random.Random(f"{index} of {slices}"), Counts()
    pool = [one for kind in KINDS for one in lawful(kind, index)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(LINES):
        line = _line(rng, rng.choice(pool))
        begun = time.perf_counter()
        ours = _ours(line)
        seconds = time.perf_counter() - begun
        expect(seconds < SECONDS_MAX, f"{seconds:.1f} s for {line[:2_000]!r}")
        theirs = verdict(line)
        expect(ours == theirs, f"we say {ours}, the second reader says {theirs}: {line[:20_000]!r}")
        counts["lines"] += 1
        counts[f"lines that both call {ours}"] += 1
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    expect(grown < KIBIBYTES_MAX, f"{grown} KiB of memory more")
    return counts


def _ours(line: bytes) -> str:
    try:
        decode(line)
    except OtherVersion:
        return "another"
    except NotCanonical:
        return "invalid"
    return "valid"


def lawful(kind: str, number: int) -> list[bytes]:
    """Lawful lines of a kind, made from the types and laws; the same for the same number."""
    found: list[bytes] = []

    @settings(
        max_examples=LAWFUL_OF_A_KIND,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        deadline=None,
    )
    @seed(number)
    @given(documents(kind))
    def collect(document: Document) -> None:
        found.append(orjson.dumps(document))

    collect()
    return found


def _line(rng: random.Random, line: bytes) -> bytes:
    chance = rng.random()
    if chance < 0.15:
        return line
    if chance < 0.4:
        return damaged_bytes(rng, line)
    value = orjson.loads(line)
    for _ in range(rng.randint(1, 2)):
        value = _odd(rng, value) if rng.random() < 0.6 else damaged_value(rng, value)
    try:
        return orjson.dumps(value)
    except (
        TypeError,
        orjson.JSONEncodeError,
    ):  # a lone surrogate, an integer beyond 64 bits: no bytes of ours
        return damaged_bytes(rng, line)


def _odd(rng: random.Random, value: Any) -> Any:
    """One value replaced by one that is nearly right for some field."""
    inside, key = value, None
    holder: Any = None
    while isinstance(inside, dict | list) and inside and (holder is None or rng.random() < 0.6):
        holder = inside
        key = rng.choice(list(inside)) if isinstance(inside, dict) else rng.randrange(len(inside))
        inside = inside[key]
    if holder is not None:
        near: list[Any] = [inside + 1, inside - 1, -inside] if type(inside) is int else []
        if isinstance(inside, str):
            near = [inside + "\n", inside + "x", inside[:-1], inside.upper()]
        holder[key] = deepcopy(rng.choice([*ODD_VALUES, *near]))
    return value
