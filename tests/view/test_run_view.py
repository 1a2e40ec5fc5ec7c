"""The run view: each fact of a run is derived once, and a commit brings a new view."""

from __future__ import annotations

import shutil
from cProfile import Profile
from pathlib import Path
from pstats import Stats

import pytest

from ledger.store.spending import Entry, Spending
from moot.api import open_run
from moot.run_view import RunView
from tests.recorded import recorded
from tests.render.sample import sample_book

CALLS_MAX = 60_000
"""Function calls of an outcome: the largest example takes some 50,000, and a fact derived twice shows at once."""


@pytest.mark.parametrize("path", recorded())
def test_an_outcome_takes_few_calls(path: Path) -> None:
    assert open_run(path).view.outcome.status, "modules are imported now, and not while calls are counted"
    run = open_run(path)
    book = run.book
    with Profile() as profile:
        assert RunView(book, str(path), path).outcome.status
    assert Stats(profile).total_calls < CALLS_MAX  # type: ignore[attr-defined]


def test_a_view_lasts_as_long_as_its_book() -> None:
    path = Path(__file__).parents[2] / "runs" / "examples" / "ratchet-notice"
    run = open_run(path)
    assert run.view is run.view
    assert run.view.outcome is run.view.outcome is run.outcome


def test_a_lost_attempt_shows_at_once_although_it_commits_nothing(tmp_path: Path) -> None:
    """The viewer, which keeps its runs in memory, must show what a new command shows."""
    path = tmp_path / "run"
    shutil.copytree(Path(__file__).parents[2] / "runs" / "examples" / "ratchet-notice", path)
    kept = open_run(path)
    first = kept.outcome
    for n, more in ((1, "$0.30 more for 1 attempt "), (2, "$0.60 more for 2 attempts ")):
        Spending(path).note(Entry("reserve", n, "r1.B.critic", 1, 9_000, 300_000))
        assert more in kept.outcome.looked_at
        assert kept.outcome == open_run(path).outcome != first
        assert kept.view.unrecorded == open_run(path).view.unrecorded
    assert kept.outcome is kept.outcome, "what has not changed is not derived again"


def test_without_a_folder_only_the_ledger_is_read() -> None:
    view = RunView(sample_book())
    assert view.unrecorded is None
