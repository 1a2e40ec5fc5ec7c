"""Drive a scripted deliberation with a pause before every reply, and print as JSON when each commit was on disk.

{"wall": seconds, "commits": [[last seq, Unix time in ms], …], "took": [ms, …]}
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ledger.events import Event
from ledger.store.store import RunStore, Writer
from roles.seats.port import Request, SeatReply
from rounds.run.driver import Drive
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.rounds.openings import ROLES, clock
from tests.rounds.scripted import Script, ScriptedSeat

COMMITS: list[tuple[int, float]] = []
TOOK_MS: list[float] = []


class Paused(ScriptedSeat):
    """Scripted seat that waits before it answers, as a real one does."""

    pause_seconds = 0.0

    async def reply(self, request: Request) -> SeatReply:
        await asyncio.sleep(self.pause_seconds)
        return await super().reply(request)


def main(path: str, pause_seconds: str) -> None:
    """Drive the run to its end, synced to the disk."""
    plain = Writer.commit

    def timed(self: Writer, drafts: Sequence[Event], **rest: Any) -> tuple[Event, ...]:
        began = time.perf_counter()
        events = plain(self, drafts, **rest)
        if events:
            TOOK_MS.append((time.perf_counter() - began) * 1_000)
            COMMITS.append((events[-1].seq, time.time() * 1_000))
        return events

    Writer.commit = timed  # type: ignore[method-assign]
    session = RunSession(RunStore(Path(path)), standard, clock())
    seat = Paused(session, Script(seed=3))
    seat.pause_seconds = float(pause_seconds)
    began = time.perf_counter()
    asyncio.run(Drive(session, dict.fromkeys(ROLES, seat), monotonic=time.monotonic).run())
    wall = time.perf_counter() - began
    print(json.dumps({"wall": wall, "commits": COMMITS, "took": TOOK_MS}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
