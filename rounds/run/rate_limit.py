"""Rate limit: how many calls a seat gets at once, and when it gets none.

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
    """Rules for repeating lost attempts: how often, and after which wait in seconds."""

    attempts_max: int = 6
    wait_seconds_first: float = 0.5
    wait_seconds_max: float = 60.0

    def wait_seconds(self, step: str, lost: int, asked_for: float | None) -> float:
        """Return the seconds to wait after the `lost`-th lost attempt: the service's wish, or doubling, less up to a
        quarter."""
        if asked_for is not None:
            # A service may ask for an hour; a run that sleeps that long looks dead, so it tries
            # again after a minute.
            return min(asked_for, self.wait_seconds_max)
        # Steps that failed together would otherwise all come back at the same instant
        # and fail together again.
        spread = 0.75 + 0.25 * hashlib.sha256(f"{step}/{lost}".encode()).digest()[0] / 255
        doubled: float = self.wait_seconds_first * 2 ** (lost - 1)
        return min(doubled, self.wait_seconds_max) * spread


class RateLimit:
    """The queue of one seat: how many calls it is given at once."""

    def __init__(self, calls_at_once: int) -> None:
        # The calls at once that were allowed at first, and those that are allowed now.
        self._most = self._limit = calls_at_once
        self._busy = 0
        self._until = 0.0
        self._changed = asyncio.Event()

    @property
    def limit(self) -> int:
        """Return the number of calls that the seat gets at once now."""
        return self._limit

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Hold the place of one call; wait for a free one first."""
        # A loop, not an if: another waiter may take the place first, or the limit may have shrunk.
        while self._busy >= self._limit:
            await self._changed.wait()
        self._busy += 1
        try:
            # The pause can be extended while this call sleeps, so the remaining time is computed again.
            while (left := self._until - asyncio.get_running_loop().time()) > 0:
                await asyncio.sleep(left)
            yield
        finally:
            self._busy -= 1
            self._wake()

    def slow_down(self, seconds: float) -> None:
        """Pause a seat that is overloaded for that many seconds, then halve the calls at once."""
        self._until = max(self._until, asyncio.get_running_loop().time() + seconds)
        self._limit = max(1, self._limit // 2)

    def went_well(self) -> None:
        """Allow one more call at once after a good reply, up to the initial limit."""
        self._limit = min(self._most, self._limit + 1)
        self._wake()

    def _wake(self) -> None:
        """Let every waiter look for a place again."""
        self._changed.set()
        # A fresh event: the old one stays set, so a waiter that has not run yet cannot miss the change.
        self._changed = asyncio.Event()
