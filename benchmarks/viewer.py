"""Measure the viewer in a real browser: commit to pixel, first pages, smooth scrolling, and the cost of fifty viewers.

python -m benchmarks.viewer                     all, in real Chromium
python -m benchmarks.viewer pixels | pages | viewers

`pixels` drives a scripted run in a process of its own, one commit per reply, while a browser shows its live page: the
time from a commit's return to the second animation frame after the update that shows it. `pages` loads the first pages
cold, from a viewer that was just started, and scrolls the long one. `viewers` runs the same deliberation with none and
with fifty streams open, in turns, and compares its wall time and the times of its commits. All share one machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.workload import write_run
from tests.rounds.openings import begin, play, rows
from tests.rounds.scripted import Script
from tests.web.live_run import aside
from tests.web.viewer import viewer

ROOT: Final = Path(__file__).resolve().parents[1]
PIXEL_MS: Final = 300.0
PAGE_MS: Final = 300.0
LONG_PAGE_MS: Final = 2_000.0
FRAME_MS: Final = 34.0
WALL: Final = 1.05
COMMIT: Final = 1.2
VIEWERS: Final = 50
TURNS: Final = 5
LONG: Final = 20_000

WATCH: Final = """() => {
  window.shown = [];
  const root = document.getElementById('live');
  new MutationObserver(() => {
    const seq = Number(root.dataset.seq);
    requestAnimationFrame(() => requestAnimationFrame((at) => shown.push([seq, performance.timeOrigin + at])));
  }).observe(root, {attributes: true, attributeFilter: ['data-seq']});
}"""
SCROLL: Final = """() => new Promise((done) => {
  const frames = []; let last = performance.now(), n = 0;
  const step = (at) => {
    frames.push(at - last); last = at; scrollBy(0, 160);
    if (++n < 150) requestAnimationFrame(step); else done(frames.slice(2));
  };
  requestAnimationFrame(step);
})"""
TIMES: Final = """() => {
  const one = performance.getEntriesByType('navigation')[0];
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return [one.loadEventEnd, paint ? paint.startTime : 0, one.responseEnd, document.querySelectorAll('*').length];
}"""


@contextmanager
def chromium() -> Generator[Any]:
    """Open a page in Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("no chromium here: `make chromium` installs Debian's, as root")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=sandbox)
        yield browser.new_page(viewport={"width": 1280, "height": 900})
        browser.close()


def percentile(values: list[float], share: float) -> float:
    """Return the value at a percentile, given as a share."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def report(name: str, value: float, target: float, unit: str) -> bool:
    """Print a line, and return whether the target was missed."""
    missed = value > target
    print(f"{name:58} {value:9.2f} {unit:3} {'MISSED' if missed else '≤'} {target:g}", flush=True)
    return missed


def commits(run: Path, pause_seconds: float) -> subprocess.Popen[bytes]:
    """Start a scripted deliberation in a process of its own, which prints the times of its commits."""
    command = [sys.executable, "-m", "benchmarks.viewer_run", str(run), str(pause_seconds)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


def written(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Wait for the process and return the times it printed."""
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0, "the scripted run failed"
    return dict(json.loads(out))


def pixels(folder: Path) -> bool:
    """Measure the time from a commit on disk to a pixel."""
    run = folder / "pixels" / "live"
    run.parent.mkdir()
    begin(run, "minimum-8")
    with viewer(run.parent) as serving, chromium() as page:
        page.goto(f"{serving.url}run/live/live")
        page.wait_for_selector('#live-link[data-state="on"]')
        page.evaluate(WATCH)
        times = written(commits(run, 0.15))
        page.wait_for_timeout(1_500)
        painted: list[tuple[int, float]] = page.evaluate("() => window.shown")
    late = [min(at for seq, at in painted if seq >= last) - on_disk for last, on_disk in times["commits"]]
    print(f"pixels: {len(late)} commits, median {statistics.median(late):.0f} ms, slowest {max(late):.0f} ms")
    return report("commit on disk to pixel, 95th percentile", percentile(late, 0.95), PIXEL_MS, "ms")


def pages(folder: Path) -> bool:
    """Measure first pages of a viewer that was just started, and how smoothly the longest one scrolls."""
    runs = folder / "pages"
    runs.mkdir()
    aside(lambda: play(begin(runs / "thirteen", "standard-13"), Script(seed=3)))
    write_run(runs / "long", LONG)
    missed = False
    for name, target in (("thirteen", PAGE_MS), ("long", LONG_PAGE_MS)):
        loads, counts = _cold_loads(runs, f"run/{name}")
        kind = f"first page of {name}, {counts} elements"
        missed |= report(f"cold, loaded and painted: {kind}", statistics.median(loads), target, "ms")
    with viewer(runs) as serving, chromium() as page:
        for path in ("", "/rounds", "/claims", "/log"):
            page.goto(f"{serving.url}run/long{path}")
            frames: list[float] = page.evaluate(SCROLL)
            missed |= report(
                f"scrolling long{path}: 95th percentile of frames", percentile(frames, 0.95), FRAME_MS, "ms"
            )
    return missed


def _cold_loads(runs: Path, path: str) -> tuple[list[float], int]:
    loads: list[float] = []
    elements = 0
    with chromium() as page:
        page.goto("about:blank")
        for _ in range(TURNS):
            with viewer(runs) as serving:
                page.goto(f"{serving.url}{path}")
                page.wait_for_timeout(150)
                loaded, painted, _, elements = page.evaluate(TIMES)
                loads.append(max(loaded, painted))
    return loads, elements


def viewers(folder: Path) -> bool:
    """Compare the same run with none and with fifty streams open, in turns."""
    walls: list[float] = []
    slower: list[float] = []
    for turn in range(2 * TURNS):
        # The order alternates, so that other work of the machine favors neither side.
        order = (0, VIEWERS) if turn % 2 == 0 else (VIEWERS, 0)
        times = {count: _run_watched(folder / f"viewers-{turn}-{count}", count) for count in order}
        alone, watched = times[0], times[VIEWERS]
        walls.append(watched["wall"] / alone["wall"])
        pair = [percentile(times_["took"], 0.95) for times_ in (alone, watched)]
        slower.append(pair[1] / pair[0])
        print(
            f"turn {turn}: wall {alone['wall']:.1f} s and {watched['wall']:.1f} s, "
            f"commits {pair[0]:.1f} and {pair[1]:.1f} ms"
        )
    missed = report(
        f"wall time with {VIEWERS} viewers, of that with none", statistics.median(walls), WALL, "×"
    )
    return (
        report("95th percentile of commits, of that with none", statistics.median(slower), COMMIT, "×")
        or missed
    )


def _run_watched(folder: Path, count: int) -> dict[str, Any]:
    """Drive a run of three rounds while `count` viewers are connected; the viewer serves in both cases."""
    run = folder / "live"
    folder.mkdir()
    begin(run, rows(3))
    with viewer(folder) as serving:
        streams = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.viewer", "streams", str(serving.port), str(count)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert streams.stdout is not None
        streams.stdout.readline()
        times = written(commits(run, 0.2))
        out, _ = streams.communicate(b"\n", timeout=60)
        assert int(out) >= count, f"{out!r} updates reached {count} viewers"
    return times


def streams(port: int, count: int) -> None:
    """Hold `count` streams open until a line comes in; print how many updates came.

    It represents fifty other machines, so it gives way to the measured processes.
    """
    os.nice(19)
    asyncio.run(_streams(port, count))


async def _streams(port: int, count: int) -> None:
    got = [0]

    async def listen() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        writer.write(f"GET /run/live/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        while line := await reader.readline():
            got[0] += line.startswith(b"data:")

    tasks = [asyncio.create_task(listen()) for _ in range(count)]
    await asyncio.sleep(1.5)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for task in tasks:
        task.cancel()
    print(got[0], flush=True)


PARTS: Final[dict[str, Callable[[Path], bool]]] = {"pixels": pixels, "pages": pages, "viewers": viewers}


def main(arguments: list[str]) -> int:
    """Measure the named parts, or all; return 1 when a target is missed."""
    if arguments[:1] == ["streams"]:
        streams(int(arguments[1]), int(arguments[2]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        missed = [PARTS[name](Path(folder)) for name in (arguments or list(PARTS))]
    return int(any(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
