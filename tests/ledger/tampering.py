"""A ledger of 300 events in all three streams, and every way of tampering that the campaign goes through."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from ledger.events import STREAMS
from ledger.store.store import RunStore, create_run
from tests.ledger import samples

FILES = ("head", *(f"{stream}.jsonl" for stream in STREAMS))


def build(path: Path, events: int = 300, seed: int = 1) -> RunStore:
    """A run of exactly `events` events in commits of one to seven."""
    chance = random.Random(seed)
    run = create_run(path, samples.opening(), [samples.statement()], blobs=samples.BLOBS, at=samples.AT)
    with run.writer() as writer:
        count = 2
        while count < events:
            size = min(chance.randint(1, 7), events - count)
            writer.commit(samples.mixed(size, count), at=samples.AT)
            count += size
    return run


def byte_flips(content: bytes, places: Iterable[int] | None = None) -> Iterator[tuple[str, bytes]]:
    """Every byte, or those at `places`, with one of its bits turned, the bit chosen by the place."""
    for place in range(len(content)) if places is None else places:
        flipped = bytes([content[place] ^ (1 << (place * 5 + 3) % 8)])
        yield f"byte {place}", content[:place] + flipped + content[place + 1 :]


def line_changes(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Every line deleted, duplicated there and at the end, swapped and spliced with the next."""
    lines = content.splitlines(keepends=True)
    for n, line in enumerate(lines):
        yield f"line {n} deleted", b"".join(lines[:n] + lines[n + 1 :])
        yield f"line {n} duplicated", b"".join(lines[: n + 1] + lines[n:])
        yield f"line {n} again at the end", content + line
        if n + 1 < len(lines):
            yield f"line {n} swapped", b"".join([*lines[:n], lines[n + 1], line, *lines[n + 2 :]])
            half, other = len(line) // 2, len(lines[n + 1]) // 2
            spliced = line[:half] + lines[n + 1][other:]
            yield f"line {n} spliced", b"".join([*lines[:n], spliced, *lines[n + 2 :]])


def moved_lines(contents: dict[str, bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Every line moved to the same place, or to the end, of another stream."""
    for source, content in contents.items():
        lines = content.splitlines(keepends=True)
        for n, line in enumerate(lines):
            without = b"".join(lines[:n] + lines[n + 1 :])
            for target in contents.keys() - {source}:
                others = contents[target].splitlines(keepends=True)
                at_place = b"".join([*others[:n], line, *others[n:]])
                yield f"{source} {n} moved into {target}", {source: without, target: at_place}
                yield (
                    f"{source} {n} moved behind {target}",
                    {source: without, target: contents[target] + line},
                )


def truncations(content: bytes, sizes: Iterable[int] | None = None) -> Iterator[tuple[str, bytes]]:
    """Every proper prefix, or those of `sizes` bytes."""
    for size in range(len(content)) if sizes is None else sizes:
        yield f"cut to {size}", content[:size]
