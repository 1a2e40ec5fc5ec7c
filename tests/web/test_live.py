"""A live run watched from start to stop in a real browser, while another process runs it."""

from __future__ import annotations

import http.client
import json
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ledger.store.store import RunStore
from moot.view.event_lines import event_lines
from moot.web.live import LINES_MAX, Broadcast, Broadcasts
from moot.web.run_index import RunIndex
from tests.web.live_run import played, prepared, running
from tests.web.viewer import Viewer, viewer

if TYPE_CHECKING:
    from playwright.sync_api import Page

MS = 60_000
SEEN = """() => {
  window.seen = [];
  const root = document.getElementById("live");
  new MutationObserver(() => window.seen.push([Number(root.dataset.seq), document.querySelectorAll(".sealed").length,
    document.querySelectorAll(".thinking").length])).observe(root, {attributes: true, attributeFilter: ["data-seq"]});
}"""


@pytest.mark.slow
def test_a_run_is_watched_from_start_to_stop(page: Page, tmp_path: Path) -> None:
    run, tape = prepared(tmp_path)
    with viewer(run.parent) as serving:
        trouble: list[str] = []
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        page.goto(f"{serving.url}run/live/live")
        page.wait_for_selector('#live-link[data-state="on"]')
        assert page.locator(".seat .thinking").count() >= 1
        page.evaluate(SEEN)
        page.evaluate("() => { window.stayed = true }")
        with running(run, tape, 0.2) as process:
            page.wait_for_function(
                "() => document.getElementById('live-link').textContent.startsWith('live')", timeout=MS
            )
            assert process.wait(180) == 0, process.stderr.read().decode() if process.stderr else ""
            last = RunStore(run).head().seq
            page.wait_for_function(
                f"() => document.getElementById('live').dataset.seq == '{last}'", timeout=MS
            )
        page.wait_for_function(
            "() => document.getElementById('live-link').textContent.startsWith('finished')", timeout=MS
        )
        seen: list[list[int]] = page.evaluate("() => window.seen")
        assert page.evaluate("() => window.stayed") is True  # never reloaded
        assert len(seen) > 2  # on a busy machine several replies come in one update
        assert [one[0] for one in seen] == sorted(one[0] for one in seen)
        assert max(one[1] for one in seen) > 0  # positions were sealed
        page.wait_for_function(
            "() => !document.querySelector('#live-stage .sealed')", timeout=MS
        )  # and opened
        assert max(one[2] for one in seen) > 1  # several were thinking at once
        assert page.locator("#live-stage .columns .seat").count() == 4
        assert page.locator("#live-stage .bench .judge").count() == 1
        assert "finished" in page.locator("#live-head").inner_text()
        assert page.locator("#live-lines li").count() > 20
        assert trouble == []


READING = """() => {
  const inside = document.querySelector("#live-stage .columns .seat .act");
  scrollBy(0, inside.getBoundingClientRect().top - 150);
  window.line = inside.dataset.key;
}"""
WHERE = """() => [...document.querySelectorAll(`.act[data-key="${window.line}"]`)]
  .map((one) => one.getBoundingClientRect().top)"""


@pytest.mark.slow  # a browser at a run that grows
def test_what_one_reads_stays_when_another_round_begins(page: Page, tmp_path: Path) -> None:
    run, tape = prepared(tmp_path)
    page.set_viewport_size({"width": 900, "height": 420})
    with viewer(run.parent) as serving:
        page.goto(f"{serving.url}run/live/live")
        page.wait_for_selector('#live-link[data-state="on"]')
        with running(run, tape, 0.15) as process:
            page.wait_for_selector("#live-stage .columns .seat .act", timeout=MS)
            page.evaluate(READING)
            page.wait_for_selector('#live-head [data-round="2"]', timeout=MS)
            places = page.evaluate(WHERE)
            assert len(places) == 1  # kept, and only once
            assert -40 < places[0] < 420  # still in sight
            assert page.locator(".kept > summary").inner_text() == "Round 1, as you last saw it"
            assert process.wait(180) == 0
        page.wait_for_function(
            "() => document.getElementById('live-link').textContent.startsWith('finished')", timeout=MS
        )
        assert page.locator(".kept").count() == 1
        assert page.locator("[id]").evaluate_all(
            "all => new Set(all.map((one) => one.id)).size === all.length"
        )


@pytest.mark.slow  # a browser at a run that grows
def test_a_browser_goes_on_where_it_was_cut_off(page: Page, tmp_path: Path) -> None:
    run, tape = prepared(tmp_path)
    with viewer(run.parent) as first:
        page.goto(f"{first.url}run/live/live")
        page.wait_for_selector('#live-link[data-state="on"]')
        port = first.port
    page.wait_for_selector('#live-link[data-state="lost"]', timeout=MS)
    with running(run, tape, 0.0) as process:
        assert process.wait(180) == 0
    with viewer(run.parent, "--port", str(port)):
        last = RunStore(run).head().seq
        page.wait_for_function(f"() => document.getElementById('live').dataset.seq == '{last}'", timeout=MS)
        assert page.locator("#live-lines li").count() > 10


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    shutil.copytree(played(), tmp_path / "runs" / "live")
    return tmp_path / "runs" / "live"


def test_the_last_event_id_decides_which_lines_come(finished: Path) -> None:
    last = RunStore(finished).head().seq
    with viewer(finished.parent) as serving:
        whole = _first_update(serving, None)
        assert whole["seq"] == last
        assert set(whole["parts"]) >= {"live-head", "live-panel", "live-seat-0", "live-bench-0"}
        rest = _first_update(serving, last - 3)
        assert rest["lines"]
        assert all(last - 3 < seq <= last for seq, _ in rest["lines"])
        assert _first_update(serving, last)["lines"] == []


@pytest.mark.slow
def test_no_update_is_lost_between_the_page_and_the_stream(tmp_path: Path) -> None:
    run, tape = prepared(tmp_path)
    with viewer(run.parent) as serving, running(run, tape, 0.02):
        got: set[int] = set()
        promised: set[int] = set()
        before = 0
        for update in _updates(serving, 0):
            got |= {seq for seq, _ in update["lines"]}
            # A machine that stalls for longer than 60 events take gets the last 60 of them, as promised.
            promised |= set(range(max(before + 1, update["seq"] + 1 - LINES_MAX), update["seq"] + 1))
            before = update["seq"]
            if update["standing"] == "finished":
                break
    book = RunStore(run).book()
    assert got == {seq for seq in promised if list(event_lines(book, book.events[seq]))}
    assert max(got) == book.events[-1].seq


def _first_update(serving: Viewer, last: int | None) -> Any:
    return next(iter(_updates(serving, last)))


def _updates(serving: Viewer, last: int | None) -> Iterator[Any]:
    connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=30)
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    connection.request("GET", "/run/live/stream", headers=headers)
    answer = connection.getresponse()
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    deadline = time.monotonic() + 30
    try:
        while time.monotonic() < deadline:
            line = answer.readline()
            if line.startswith(b"data: "):
                yield json.loads(line[6:])
    finally:
        connection.close()


@pytest.mark.slow  # half a run is played
def test_all_who_look_on_at_once_share_one_watcher(tmp_path: Path) -> None:
    run, _ = prepared(tmp_path)
    broadcasts = Broadcasts(RunIndex(run.parent), 400)
    together = threading.Barrier(16)

    def asked(_: int) -> Broadcast | None:
        together.wait(10)
        return broadcasts.of("live")

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(asked, range(16)))
    assert found[0] is not None
    assert all(one is found[0] for one in found)
    assert broadcasts.of("live") is found[0]
    assert broadcasts.of("nothing") is None
