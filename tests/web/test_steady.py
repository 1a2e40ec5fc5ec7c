"""R-28: what goes wrong while somebody looks on is said, and the next state is shown again."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from moot.app.sessions import session_at
from moot.web import judged, live_parts
from moot.web import sse as channels
from moot.web.followed import Followed
from moot.web.run_index import Shelf
from moot.web.sse import Channels
from rounds.run import human_actions as people
from tests.rounds.openings import begin, rows


def test_a_watcher_that_cannot_show_a_state_says_so_and_shows_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """R-28: it died without a word, and whoever looked on was told for ever that all was well."""
    session = begin(tmp_path / "run", rows(1))
    real = live_parts.parts_of
    broken = True

    def parts_of(*arguments: Any) -> Any:
        if broken:
            raise ZeroDivisionError("no such round")
        return real(*arguments)

    monkeypatch.setattr(channels, "parts_of", parts_of)

    async def main() -> tuple[bytes, bytes]:
        nonlocal broken
        channel = Channels(Shelf(tmp_path)).of("run")
        assert channel is not None
        channel.join()
        try:
            assert await channel.changed(0)
            trouble = channel.delta
            broken = False
            version = channel.version
            people.note(session, "A note.")
            assert await channel.changed(version)
            return trouble, channel.delta
        finally:
            channel.leave()

    trouble, shown = asyncio.run(main())
    assert b"this cannot be shown (ZeroDivisionError)" in trouble
    assert b"moot check" in trouble
    assert "no such round" in caplog.text
    assert b"live-head" in shown
    assert b"this cannot be shown" not in shown


def test_runs_can_be_judged_while_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-28: one thread went through the reports while another put one in."""
    runs = []
    for n in range(8):
        session = begin(tmp_path / f"run-{n}", rows(1))
        followed = Followed(session.run.path)
        followed.catch_up()
        runs.append(followed)

    class Slow(dict[Any, Any]):
        """A dictionary that gives way to other threads while it is gone through."""

        def __iter__(self) -> Any:
            for key in super().__iter__():
                pause.wait(0.05)
                yield key

    pause = threading.Event()
    monkeypatch.setattr(judged, "_KEPT", Slow())
    for _ in range(2):
        with ThreadPoolExecutor(len(runs)) as threads:
            found = list(threads.map(judged.checked, runs))
        assert all(one.report is not None and one.report.ok for one in found)
        for followed in runs:
            people.note(session_at(followed.path), "A note.")
            followed.catch_up()
    assert len(judged._KEPT) == len(runs)
