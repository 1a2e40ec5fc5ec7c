"""Running slices in processes of their own, one after another or side by side, until they are done or time is up."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

from tests.campaign.slices import ROOT, Counts, Row, keep_row, sources
from tests.campaign.table import campaign


def run_all(todo: Sequence[tuple[str, int]], workers: int, seconds_max: float, state: Path) -> None:
    """Run slices until they are done or time is up; each is remembered when it ends."""
    deadline = time.monotonic() + seconds_max
    code = sources()
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        waiting = iter(todo)
        running = {
            pool.submit(run_slice, *one, code) for _, one in zip(range(workers), waiting, strict=False)
        }
        while running:
            ended = wait(running, return_when=FIRST_COMPLETED).done.pop()
            running.discard(ended)
            row = ended.result()
            keep_row(state, row)
            print(f"{row.campaign} {row.slice}: {row.seconds:.1f} s {row.broken or row.counts}", flush=True)
            if time.monotonic() < deadline and (one := next(waiting, None)) is not None:
                running.add(pool.submit(run_slice, *one, code))


def run_slice(name: str, index: int, code: str) -> Row:
    """One slice, whatever happens in it."""
    begun = time.monotonic()
    counts, broken = Counts(), ""
    try:
        counts = campaign(name).run(index)
    except Exception as error:  # noqa: BLE001 - whatever comes out of a slice is what the campaign looks for
        told = f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-6)}"
        broken = told.replace(f"{ROOT}/", "")
    return Row(name, index, dict(counts), round(time.monotonic() - begun, 1), code, broken)
