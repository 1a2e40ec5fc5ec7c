"""A recording plays in a run of its own, with the prompts that it was made with."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ledger.store.store import RunStore
from moot.api import run_deliberation
from tests.protocols.playing import played
from tests.recorded import run_of


def _today(run: Path, folder: Path) -> Path:
    """Copy a deliberation as it is written today: profiles of release 0.1 have another name."""
    text = (run / "deliberation.toml").read_text("utf-8")
    copied = folder / "deliberation.toml"
    copied.write_text(re.sub(r"^profile = .*$", 'profile = "gates"', text, flags=re.MULTILINE), "utf-8")
    for name in ("blobs.jsonl", "head"):
        shutil.copy(run / name, folder / name)
    return copied


@pytest.mark.parametrize(
    "run",
    [partial(played, "debate"), partial(run_of, "ratchet-notice"), partial(run_of, "priority-season")],
    ids=["scripted", "ratchet-notice", "priority-season"],
)
def test_a_recording_plays_with_its_own_prompts(run: Callable[[], Path], tmp_path: Path) -> None:
    recorded = RunStore(run())
    again = run_deliberation(_today(run(), tmp_path), seats=f"tape:{run()}", out=tmp_path / "played")
    before, after = recorded.state(), again.book.state
    assert after.finished
    assert after.answered.keys() == before.answered.keys()
    books = (recorded.book(), again.book)
    briefs = [{event.step: event.call.brief for event in book.events if event.call} for book in books]
    assert briefs[0] == briefs[1]
    proven = {event.call.isolation for event in again.book.events if event.call}
    assert proven == {"trusted"}, "a recording proves no more than what was recorded"
    assert after.opening.prompt_set == before.opening.prompt_set
