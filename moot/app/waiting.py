"""Waiting for something to be committed to a run, by looking at its head."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ledger.store.store import RunStore

LOOK_EVERY_SECONDS: Final = 0.2


def wait_for_news(run: RunStore, until: float) -> bool:
    """Whether something was committed before the monotonic clock read `until`."""
    head = run.head()
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(LOOK_EVERY_SECONDS, left))
        if run.head() != head:
            return True
    return False


def news_of(path: Path) -> Callable[[], bool]:
    """A function that waits a moment and says whether something was committed since it was last asked."""
    run = RunStore(path)
    seen = run.head()

    def news() -> bool:
        nonlocal seen
        time.sleep(LOOK_EVERY_SECONDS)
        before, seen = seen, run.head()
        return seen != before

    return news
