"""Live updates: one watcher per run for any number of viewers; each viewer gets the changes since its last update.

The watcher polls the head file, which every commit replaces, reads what is new, and renders each part of the page once.
An update carries the last event's number as its id, so a browser that lost its connection can ask for the rest.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from ledger.store.failures import LedgerError
from moot.app.speech import FILE
from moot.web.followed import Followed, standing_of
from moot.web.links import SiteLinks, links_of
from moot.web.live import lines_of, parts_of
from moot.web.run_index import RunIndex
from moot.web.templating import parts as macros
from roles.protocol import UNLAWFUL

POLL_SECONDS: Final = 0.03
SETTLE_SECONDS: Final = 0.08
"""Delay before a change is read: replies of one group arrive together and become one update."""
REST_SECONDS: Final = 0.04
REST_SECONDS_A_VIEWER: Final = 0.002
"""Additional rest per viewer: sending an update takes time for each of them."""
ALIVE_SECONDS: Final = 10.0
RETRY_MS: Final = 700
VIEWERS_MAX: Final = 400

LOG: Final = logging.getLogger(__name__)

Seen = tuple[object, ...]


class Broadcast:
    """Live state of one run. `version` counts updates; `delta` holds the changes since the last version."""

    def __init__(self, name: str, run: Followed) -> None:
        self._name, self.run = name, run
        self._parts: dict[str, str] = {}
        self._standing = "unreadable"
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._last: Seen = ()
        self.seq = -1
        self.version = 0
        self.delta = b""
        self.viewers = 0

    def join(self) -> None:
        """Count a new viewer; the first one starts the watcher."""
        self.viewers += 1
        if self._task is None:
            self._task = asyncio.create_task(self._watch())

    def leave(self) -> None:
        """Count a viewer less; the last one stops the watcher."""
        self.viewers -= 1
        if self.viewers == 0 and self._task is not None:
            # Without viewers a run is neither polled nor rendered.
            self._task.cancel()
            self._task, self._last = None, ()

    async def changed(self, version: int) -> bool:
        """Wait for another version than `version`; return False when none came for 10 s."""
        event = self._changed
        # Checked first: a version that came since the last call must not be waited for.
        if self.version != version:
            return True
        try:
            await asyncio.wait_for(event.wait(), ALIVE_SECONDS)
        except TimeoutError:
            return False
        return True

    async def _watch(self) -> None:
        while True:
            seen = await asyncio.to_thread(_stamp, self.run.path)
            # Three `stat` calls per look are cheap enough to poll thirty times a second.
            if seen == self._last:
                await asyncio.sleep(POLL_SECONDS)
                continue
            await asyncio.sleep(SETTLE_SECONDS)
            # Taken again before the reading: a commit during it then counts as the next change, and is never missed.
            self._last = await asyncio.to_thread(_stamp, self.run.path)
            (changed,) = await asyncio.gather(asyncio.to_thread(self._refresh), return_exceptions=True)
            if isinstance(changed, Exception):
                changed = self._troubled(changed)
            if changed:
                # Viewers that wait on the old event wake up; a new one is ready before they ask again.
                self._changed.set()
                self._changed = asyncio.Event()
            await asyncio.sleep(REST_SECONDS + REST_SECONDS_A_VIEWER * self.viewers)

    def _troubled(self, error: Exception) -> bool:
        """Report that this state of the run could not be shown; the next one is tried again."""
        LOG.error("%s cannot be shown live", self._name, exc_info=error)
        what = (
            f"this cannot be shown ({type(error).__name__}); `moot check` names the rule that the run breaks"
        )
        parts = {"live-labels": macros(self._links()).trouble(what)}
        with self.run.lock:
            self.delta = _update(self.seq, self._standing, parts, [])
            self._parts |= parts
            self.version += 1
        return True

    def _refresh(self) -> bool:
        """Read and render; return whether anything changed. A stopped watcher may still be running this."""
        with self.run.lock:
            before = self.seq
            parts, lines = self._read(before)
            changed = {name: html for name, html in parts.items() if self._parts.get(name) != html}
            # A driver's sign of life changes a stamp and nothing that is shown.
            if not changed and self.seq == before:
                return False
            self.delta = _update(self.seq, self._standing, changed, lines)
            self._parts |= changed
            self.version += 1
            return True

    def _read(self, before: int) -> tuple[Mapping[str, str], list[tuple[int, str]]]:
        """Return each part of the page, and the lines after event `before`."""
        links = self._links()
        try:
            self.run.catch_up()
            parts = parts_of(self.run, links)
            # The first version is sent as a whole, and brings its own lines.
            lines = lines_of(self.run, links, before) if self.version else []
            self.seq = self.run.seq
            self._standing = standing_of(self.run)
        except (LedgerError, OSError, *UNLAWFUL) as error:
            return {"live-labels": macros(links).trouble(str(error))}, []
        return parts, lines

    def _links(self) -> SiteLinks:
        return links_of(self._name, self.run)

    def whole(self, after: int) -> bytes:
        """Return the whole page, with the lines after an event."""
        with self.run.lock:
            lines = lines_of(self.run, self._links(), after)
        return _update(self.seq, self._standing, self._parts, lines)


def _stamp(directory: Path) -> Seen:
    """Return a value that changes with every commit, new step, spoken word and driver."""
    stamps: list[object] = []
    for name in ("head", FILE, "driver"):
        try:
            status = os.stat(directory / name)
        except OSError:
            stamps.append(None)
        else:
            stamps.append((status.st_mtime_ns if name != "driver" else status.st_size > 0, status.st_ino))
    return tuple(stamps)


def _update(seq: int, standing: str, parts: Mapping[str, str], lines: list[tuple[int, str]]) -> bytes:
    """Return one server-sent event; its JSON contains no line feed."""
    content = orjson.dumps({"seq": seq, "standing": standing, "parts": parts, "lines": lines})
    return b"id: %d\ndata: %b\n\n" % (seq, content)


class Broadcasts:
    """The broadcasts of all runs that have viewers."""

    def __init__(self, index: RunIndex) -> None:
        self._index = index
        self._open: dict[str, Broadcast] = {}
        self._lock = threading.Lock()

    @property
    def viewers(self) -> int:
        """Return the number of viewers."""
        return sum(broadcast.viewers for broadcast in self._open.values())

    def of(self, name: str) -> Broadcast | None:
        """Return the one broadcast of a run, also for simultaneous requests; None for an unknown run.

        Raises `LedgerError`.
        """
        run = self._index.followed(name)
        if run is None:
            return None
        with self._lock:
            broadcast = self._open.get(name)
            # A run that was dropped from memory and read again is another object; its old broadcast would keep the
            # first one alive.
            if broadcast is None or broadcast.run is not run:
                broadcast = self._open[name] = Broadcast(name, run)
            return broadcast


async def stream(broadcasts: Broadcasts, request: Request) -> Response:
    """Return the updates of a run after the viewer's last event (`Last-Event-ID`, or `?after=`)."""
    try:
        broadcast = await asyncio.to_thread(broadcasts.of, request.path_params["name"])
    except LedgerError as error:
        return PlainTextResponse(f"{error}\n", 409)
    if broadcast is None:
        return PlainTextResponse("no such run\n", 404)
    # Refused while the server can still answer ordinary pages.
    if broadcasts.viewers >= VIEWERS_MAX:
        return PlainTextResponse("too many look on\n", 503)
    last_id = request.headers.get("last-event-id") or request.query_params.get("after", "")
    # An id that a client made up counts as none: it gets everything.
    after = int(last_id) if last_id.isascii() and last_id.isdigit() and len(last_id) < 16 else -1
    # A proxy that buffers would hold updates back until the stream ends.
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_updates(broadcast, after), media_type="text/event-stream", headers=headers)


async def _updates(broadcast: Broadcast, after: int) -> AsyncIterator[bytes]:
    broadcast.join()
    version = 0
    try:
        yield b"retry: %d\n\n" % RETRY_MS
        while True:
            if not await broadcast.changed(version):
                # A comment line keeps proxies from closing a quiet connection, and reveals a viewer that has gone.
                yield b": alive\n\n"
                continue
            # A viewer that missed a version cannot use the delta, and gets the whole page once.
            behind = version != broadcast.version - 1 or version == 0
            version, update, seq = broadcast.version, broadcast.delta, broadcast.seq
            yield await asyncio.to_thread(broadcast.whole, after) if behind else update
            after = seq
    finally:
        broadcast.leave()
