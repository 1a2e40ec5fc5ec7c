"""Pacing: a seat that gets well again is asked by all who wait for it.

Of `rounds/run/retries.py`.
"""

from __future__ import annotations

import asyncio

from rounds.run.retries import RateLimit

SECONDS_MAX = 60
"""A call that waits for a place for ever fails its test instead of holding up all others."""


def test_who_waits_for_a_place_hears_that_there_are_more() -> None:
    """R-28: the limit was raised and nobody was woken, so one call's place was left empty until the next ended."""

    async def main() -> list[int]:
        rate = RateLimit(4)
        rate.slow_down(0)
        rate.slow_down(0)
        assert rate.limit == 1
        begun: list[int] = []
        ends = asyncio.Event()

        async def call(n: int) -> None:
            async with rate.turn():
                begun.append(n)
                await ends.wait()

        calls = [asyncio.create_task(call(n)) for n in range(4)]
        await _settled()
        assert begun == [0]
        rate.went_well()
        await _settled()
        assert begun == [0, 1]
        rate.went_well()
        rate.went_well()
        rate.went_well()
        await _settled()
        ends.set()
        await asyncio.gather(*calls)
        return begun

    assert asyncio.run(asyncio.wait_for(main(), SECONDS_MAX)) == [0, 1, 2, 3]


def test_no_more_are_asked_at_once_than_the_limit() -> None:
    async def main() -> int:
        rate, busy, most = RateLimit(3), 0, 0

        async def call() -> None:
            nonlocal busy, most
            async with rate.turn():
                busy += 1
                most = max(most, busy)
                await asyncio.sleep(0)
                busy -= 1

        await asyncio.gather(*(call() for _ in range(20)))
        return most

    assert asyncio.run(asyncio.wait_for(main(), SECONDS_MAX)) == 3


def test_a_seat_that_is_overloaded_again_and_again_is_still_asked_one_at_a_time() -> None:
    async def main() -> int:
        rate = RateLimit(4)
        for _ in range(8):
            rate.slow_down(0)
        async with rate.turn():
            return rate.limit

    assert asyncio.run(asyncio.wait_for(main(), SECONDS_MAX)) == 1


async def _settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)
