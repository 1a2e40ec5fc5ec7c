"""Prefix-cache accounting of the fake: what is read, what is written, what is neither.

A prefix is keyed by model, output schema and every block up to a breakpoint; an entry can be read only once the
response that writes it has begun, for five minutes after its last use. Tokens are estimated as bytes / 4.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Final

from tests.fake_api.rules import blocks_of

PREFIX_TOKENS_MIN: Final = 1_024
LOOKBACK_BLOCKS: Final = 20
TTL_SECONDS: Final = 300.0


def tokens(text: str) -> int:
    """The fake's estimate: a token is four bytes."""
    return (len(text.encode()) + 3) // 4


@dataclass(frozen=True, slots=True)
class Accounted:
    """Input tokens of one request; `writes` are the prefixes that become readable when the response begins."""

    uncached: int
    read: int
    written: int
    writes: tuple[str, ...]


@dataclass
class Cache:
    """Prefix hash → when it was last used, in seconds of the caller's clock."""

    prefix_tokens_min: int = PREFIX_TOKENS_MIN
    _entries: dict[str, float] = field(default_factory=dict[str, float])

    def account(self, body: dict[str, Any], now: float) -> Accounted:
        """How the input of a request divides, given what can be read at `now`."""
        form = (body.get("output_config") or {}).get("format")
        digest = hashlib.sha256(json.dumps([body["model"], form]).encode())
        keys: list[str] = []
        sums: list[int] = []
        breakpoints: list[int] = []
        for n, block in enumerate(blocks_of(body)):
            digest.update(block["text"].encode() + b"\0")
            keys.append(digest.hexdigest())
            sums.append((sums[-1] if sums else 0) + tokens(block["text"]))
            if "cache_control" in block:
                breakpoints.append(n)
        total = sums[-1]
        long_enough = [n for n in breakpoints if sums[n] >= self.prefix_tokens_min]
        if not long_enough:
            return Accounted(total, 0, 0, ())
        hit = self._longest(keys, breakpoints, now)
        read = sums[hit] if hit is not None else 0
        last = long_enough[-1]
        written = max(0, sums[last] - read)
        return Accounted(total - read - written, read, written, tuple(keys[n] for n in long_enough))

    def _longest(self, keys: list[str], breakpoints: list[int], now: float) -> int | None:
        for point in reversed(breakpoints):
            for n in range(point, max(-1, point - LOOKBACK_BLOCKS), -1):
                used = self._entries.get(keys[n])
                if used is not None and now - used <= TTL_SECONDS:
                    self._entries[keys[n]] = now
                    return n
        return None

    def begun(self, writes: tuple[str, ...], now: float) -> None:
        """The response has begun: what it writes can be read from now on."""
        for key in writes:
            self._entries[key] = now
