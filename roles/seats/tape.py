"""The `tape` seat: plays the replies of a recorded run. Every run is its own recording (FORMAT 7).

Replies are looked up by step. The hash of the brief must match; if it does not, the run ends with the difference
(exit 5).
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Mapping
from typing import Any

from ledger.events import Call, Fallback
from ledger.events.envelope import SeatKind
from ledger.state.book import Book
from ledger.store.blobs import named_by_brief
from roles.brief import Brief
from roles.seats.port import Request, Seat, SeatFailed, SeatReply
from roles.seats.registry import Wanted


class TapeSeat:
    """Seat that plays the replies of `tape`. `delay_seconds` slows the playback of each reply down."""

    kind: SeatKind = "tape"

    def __init__(self, tape: Book, delay_seconds: float = 0.0) -> None:
        self.tape = tape
        self._delay_seconds = delay_seconds

    async def reply(self, request: Request) -> SeatReply:
        """Return the recorded reply of the step. Raises `SeatFailed`, fatal when the tape does not fit the run."""
        step = request.step.id
        await asyncio.sleep(self._delay_seconds)
        seq = self.tape.state.answered.get(step)
        if seq is None:
            raise self._missing(step)
        call = self.tape.events[seq].call
        assert call is not None, f"{step} has no call"
        # A reply to another prompt would make the run look as if it had been asked this one.
        if call.brief != request.brief.sha256:
            raise SeatFailed("unavailable", self._difference(request.brief, call), fatal=True)
        content = self.tape.blobs.read(call.reply)
        if content is None:
            raise SeatFailed("unavailable", f"the tape lacks the reply blob of {step}", fatal=True)
        return _played(call, content, self._attempt_blobs(call))

    def _attempt_blobs(self, call: Call) -> dict[str, bytes]:
        """Return hash → bytes of all blobs of the attempts: replies, brief manifests, and their blocks and schemas."""
        wanted = [sha for attempt in call.attempts for sha in (attempt.brief, attempt.reply) if sha]
        for attempt in call.attempts:
            wanted += [named.sha256 for named in named_by_brief(self.tape.blobs.read(attempt.brief) or b"")]
        contents = {sha: self.tape.blobs.read(sha) for sha in wanted}
        return {sha: content for sha, content in contents.items() if content is not None}

    def _missing(self, step: str) -> SeatFailed:
        given_up = self.tape.state.given_up.get(step)
        # A step that the recorded run gave up is given up again, for the same reason.
        if given_up is not None:
            fallback = self.tape.events[given_up]
            assert isinstance(fallback, Fallback), "given_up names fallbacks"
            return SeatFailed(fallback.reason, fallback.detail)
        return SeatFailed("unavailable", f"the tape has no reply for {step}", fatal=True)

    def _difference(self, brief: Brief, call: Call) -> str:
        recorded: list[str] = []
        for named in named_by_brief(self.tape.blobs.read(call.brief) or b""):
            if named.kind == "block":
                text = self.tape.blobs.read(named.sha256)
                recorded += (text or b"(missing)").decode("utf-8", "replace").splitlines()
        lines = difflib.unified_diff(recorded, brief.text.splitlines(), "tape", "run", lineterm="", n=1)
        # Briefs have thousands of lines; the first differences tell what changed.
        excerpt = "\n".join(list(lines)[:40])
        return f"the brief of {brief.step} is not the one on the tape:\n{excerpt}"


def seat_of(wanted: Wanted) -> Seat:
    """Return a seat that plays the named run."""
    return TapeSeat(wanted.book(wanted.rest), wanted.delay_seconds)


def _played(call: Call, content: bytes, blobs: Mapping[str, bytes]) -> SeatReply:
    # A recording proves no more than what was recorded, its isolation among it.
    facts: dict[str, Any] = {
        name: getattr(call, name) for name in SeatReply.__struct_fields__ if hasattr(call, name)
    }
    facts |= {"content": content, "blobs": blobs, "context_id": call.context.id}
    facts |= {"seat": "tape", "simulated": "recorded"}
    return SeatReply(**facts)
