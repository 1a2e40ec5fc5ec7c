"""R-28: what goes wrong while somebody looks on is said, and the next state is shown again."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import moot
from moot.app.runs import Run
from moot.app.session import session_at
from moot.web import live
from moot.web.live import Broadcasts
from moot.web.overview import checked
from moot.web.run_index import RunIndex
from rounds.run import human_actions as people
from tests.rounds.openings import begin, rows


def test_a_watcher_that_cannot_show_a_state_says_so_and_shows_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """R-28: it died without a word, and whoever looked on was told for ever that all was well."""
    session = begin(tmp_path / "run", rows(1))
    real = live.parts_of
    broken = True

    def parts_of(*arguments: Any) -> Any:
        if broken:
            raise ZeroDivisionError("no such round")
        return real(*arguments)

    monkeypatch.setattr(live, "parts_of", parts_of)

    async def main() -> tuple[bytes, bytes]:
        nonlocal broken
        channel = Broadcasts(RunIndex(tmp_path), 400).of("run")
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


def test_runs_are_judged_while_others_are_and_once_for_each_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-28: one thread went through the reports while another put one in."""
    runs = []
    for n in range(4):
        session = begin(tmp_path / f"run-{n}", rows(1))
        runs.append(Run(session.run.path))
    asked: Counter[Path] = Counter()
    real = moot.check

    def check(path: Path) -> Any:
        asked[path] += 1
        return real(path)

    monkeypatch.setattr(moot, "check", check)

    def judged(run: Run) -> bool:
        report = checked(run.view)
        return report is not None and report.ok

    for turn in (1, 2):
        with ThreadPoolExecutor(2 * len(runs)) as threads:
            assert all(threads.map(judged, [*runs, *runs]))
        assert set(asked.values()) == {turn}
        for run in runs:
            people.note(session_at(run.path), "A note.")
