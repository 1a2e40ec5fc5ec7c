"""A recording plays in a run of its own, with the prompts that it was made with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from ledger.store.store import RunStore
from moot import run_deliberation
from tests.protocols.playing import played
from tests.recorded import RUNS, protocol_of, run_of

UNATTENDED: Final = ("priority", "ratchet")
"""Protocols whose runs wait for nobody and run nothing."""


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(partial(played, "debate"), id="scripted"),
        *(
            pytest.param(partial(run_of, run.name), id=run.name)
            for run in RUNS
            if protocol_of(run) in UNATTENDED
        ),
    ],
)
def test_a_recording_plays_with_its_own_prompts(recording: Callable[[], Path], tmp_path: Path) -> None:
    run = recording()
    recorded = RunStore(run)
    again = run_deliberation(run / "deliberation.toml", seats=f"tape:{run}", out=tmp_path / "played")
    before, after = recorded.state(), again.book.state
    assert after.finished
    assert after.answered.keys() == before.answered.keys()
    books = (recorded.book(), again.book)
    briefs = [{event.step: event.call.brief for event in book.events if event.call} for book in books]
    assert briefs[0] == briefs[1]
    proven = {event.call.isolation for event in again.book.events if event.call}
    assert proven == {"trusted"}, "a recording proves no more than what was recorded"
    assert after.opening.prompt_set == before.opening.prompt_set
