"""Live page: one watcher per run for any number of viewers; each viewer gets the parts that changed since its update.

The watcher polls the head file, which every commit overwrites, reads what is new, and renders each part of the page
once. An update carries the last event's number as its id, so a browser that lost its connection can ask for the rest.
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
from moot.app.runs import Run
from moot.app.speech import FILE
from moot.run_view import RunView
from moot.view.event_lines import event_lines
from moot.view.grounds import sources_of
from moot.view.story import scene_of
from moot.web.guard import number_in
from moot.web.overview import labels_shown, standing_of
from moot.web.rounds import round_lines, round_shown, steps_in_progress
from moot.web.run_index import RunIndex
from moot.web.templating import SiteLinks, links_of, parts as macros_with
from roles.protocol import UNLAWFUL

LINES_MAX: Final = 60
POLL_SECONDS: Final = 0.03
SETTLE_SECONDS: Final = 0.08
"""Delay before a change is read: replies of one group arrive together and become one update."""
REST_SECONDS: Final = 0.04
REST_SECONDS_A_VIEWER: Final = 0.002
"""Additional rest per viewer: sending an update takes time for each of them."""
ALIVE_SECONDS: Final = 10.0
RETRY_MS: Final = 700

LOG: Final = logging.getLogger(__name__)

Seen = tuple[object, ...]
Lines = list[tuple[int, str]]


def parts_of(view: RunView, links: SiteLinks) -> dict[str, str]:
    """Return the content of every part of the live page, by the id of its element."""
    state, standing, macros = view.book.state, standing_of(view), macros_with(links)
    labels = [label for label in labels_shown(view) if label.kind != "UNFINISHED" or standing == "stopped"]
    scene = scene_of(view.book, {}, None)
    page = round_shown(view, state.round, steps_in_progress(view)) if state.round in state.rounds else None
    parts: dict[str, str] = {
        "live-labels": macros.label_badges(labels),
        "live-verdict": macros.verdict_line(standing, view.outcome, scene),
        "live-earlier": macros.earlier([line for line in round_lines(state) if line["n"] < state.round]),
        "live-head": macros.round_head(page, standing),
        "live-panel": macros.panel(scene),
    }
    if page is not None:
        for kind, columns in (("seat", page.columns), ("bench", page.bench)):
            for n, column in enumerate(columns):
                parts[f"live-{kind}-{n}"] = macros.column(column, newest_first=True)
        parts["live-house"] = macros.house(page.house)
    return parts


def lines_of(view: RunView, links: SiteLinks, after: int) -> Lines:
    """Return the last 60 lines at most after event `after`, as a terminal would print them: (seq, HTML)."""
    rows: Lines = []
    book, macros, sources = view.book, macros_with(links), sources_of(view.book)
    # Lines older than the last 60 would be scrolled away at once.
    for event in book.events[max(0, after + 1, len(book.events) - LINES_MAX) :]:
        around = sources.round_of(book, event.round) if event.phase != "close" else book
        lines = list(event_lines(around, event))
        if lines:
            rows.append((event.seq, macros.line(lines, event.seq)))
    return rows


class Broadcast:
    """Live state of one run. `version` counts updates; `delta` holds the changes since the last version."""

    def __init__(self, name: str, run: Run) -> None:
        self._name, self.run = name, run
        self._lock = threading.Lock()
        self._parts: dict[str, str] = {}
        self._standing = "unreadable"
        self._view: RunView | None = None
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
        # Checked first: a version that came since the last call must not be waited for.
        if self.version == version:
            try:
                await asyncio.wait_for(self._changed.wait(), ALIVE_SECONDS)
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
            if await asyncio.to_thread(self._refresh):
                # Viewers that wait on the old event wake up; a new one is ready before they ask again.
                self._changed.set()
                self._changed = asyncio.Event()
            await asyncio.sleep(REST_SECONDS + REST_SECONDS_A_VIEWER * self.viewers)

    def _refresh(self) -> bool:
        """Read and render; return whether anything changed. A stopped watcher may still be running this."""
        with self._lock:
            before, lines = self.seq, Lines()
            try:
                view = self.run.view
                links = links_of(self._name, view.book)
                parts = parts_of(view, links)
                # The first version is sent as a whole, and brings its own lines.
                lines = lines_of(view, links, before) if self.version else []
                self._view, self.seq, self._standing = view, view.book.state.seq, standing_of(view)
            except (LedgerError, OSError, *UNLAWFUL) as error:
                parts = _trouble(str(error))
            # A fault of one state must not end the watcher: the next state is tried again.
            except Exception as error:
                LOG.exception("%s cannot be shown live", self._name)
                rule = "`moot check` names the rule that the run breaks"
                parts = _trouble(f"this cannot be shown ({type(error).__name__}); {rule}")
            changed = {name: html for name, html in parts.items() if self._parts.get(name) != html}
            # A driver's sign of life changes a stamp and nothing that is shown.
            if not changed and self.seq == before:
                return False
            self.delta = _update(self.seq, self._standing, changed, lines)
            self._parts |= changed
            self.version += 1
            return True

    def whole(self, after: int) -> bytes:
        """Return the whole page, with the lines after an event."""
        with self._lock:
            # The view that was rendered, and not a newer one: its lines come with the next update.
            view = self._view
            lines = lines_of(view, links_of(self._name, view.book), after) if view else []
            return _update(self.seq, self._standing, self._parts, lines)


def _trouble(what: str) -> dict[str, str]:
    return {"live-labels": macros_with(None).trouble(what)}


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


def _update(seq: int, standing: str, parts: Mapping[str, str], lines: Lines) -> bytes:
    """Return one server-sent event; its JSON contains no line feed."""
    content = orjson.dumps({"seq": seq, "standing": standing, "parts": parts, "lines": lines})
    return b"id: %d\ndata: %b\n\n" % (seq, content)


class Broadcasts:
    """The broadcasts of all runs that have viewers, of whom there are at most `viewers_max`."""

    def __init__(self, index: RunIndex, viewers_max: int) -> None:
        self._index, self._viewers_max = index, viewers_max
        self._open: dict[str, Broadcast] = {}
        self._lock = threading.Lock()

    @property
    def is_full(self) -> bool:
        """Return whether one viewer more is refused."""
        return sum(broadcast.viewers for broadcast in self._open.values()) >= self._viewers_max

    def of(self, name: str) -> Broadcast | None:
        """Return the one broadcast of a run, also for simultaneous requests; None for an unknown run.

        Raises `LedgerError`.
        """
        run = self._index.run(name)
        if run is None:
            return None
        # Read before anything is sent, so that a damaged run is refused.
        _ = run.view
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
    if broadcasts.is_full:
        return PlainTextResponse("too many look on\n", 503)
    last_id = request.headers.get("last-event-id") or request.query_params.get("after", "")
    # An id that a client made up counts as none: it gets everything.
    after = number_in(last_id, 15, -1)
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
