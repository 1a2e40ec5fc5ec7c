"""Rate limit: how many calls a seat is given at once, and when it is let be.

A seat that says it is overloaded is left alone for as long as it asks (at most a minute) and then given fewer calls at
once; each good reply gives one back. Waits are the same for the same step and try: no randomness enters a run.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a lost attempt is made again, and how long is waited before it."""

    attempts_max: int = 6
    wait_seconds_first: float = 0.5
    wait_seconds_max: float = 60.0

    def wait_seconds(self, step: str, lost: int, asked_for: float | None) -> float:
        """The wait after the `lost`-th lost attempt: what the service asks for, or doubling, spread by a quarter."""
        if asked_for is not None:
            return min(asked_for, self.wait_seconds_max)
        spread = 0.75 + 0.25 * hashlib.sha256(f"{step}/{lost}".encode()).digest()[0] / 255
        doubled: float = self.wait_seconds_first * 2 ** (lost - 1)
        return min(doubled, self.wait_seconds_max) * spread


class RateLimit:
    """The queue of one seat: how many calls it is given at once."""

    def __init__(self, calls_at_once: int) -> None:
        self._most = self._limit = calls_at_once
        self._busy = 0
        self._until = 0.0
        self._changed = asyncio.Event()

    @property
    def limit(self) -> int:
        """Calls at once that the seat is given now."""
        return self._limit

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """One call's place; waits for it."""
        while self._busy >= self._limit:
            await self._changed.wait()
        self._busy += 1
        try:
            while (left := self._until - asyncio.get_running_loop().time()) > 0:
                await asyncio.sleep(left)
            yield
        finally:
            self._busy -= 1
            self._wake()

    def slow_down(self, seconds: float) -> None:
        """The seat is overloaded: nobody asks for so long, then half as many at once."""
        self._until = max(self._until, asyncio.get_running_loop().time() + seconds)
        self._limit = max(1, self._limit // 2)

    def went_well(self) -> None:
        """A good reply: one more at once, up to what was allowed at first."""
        self._limit = min(self._most, self._limit + 1)
        self._wake()

    def _wake(self) -> None:
        """Let everybody who waits for a place look again."""
        self._changed.set()
        self._changed = asyncio.Event()
