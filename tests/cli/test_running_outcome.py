"""What a run that goes on tells first: the main decision of its last round, whatever a person overrides meanwhile."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledger.events import Decision
from moot.api import open_run
from tests.cli.conftest import Moot
from tests.long_run import long_fork

INSTEAD = "Nothing is bought this year."


@pytest.mark.parametrize("overridden", [None, "D-2-1", "D-8-1"])
def test_the_main_decision_is_told(moot: Moot, tmp_path: Path, overridden: str | None) -> None:
    """The last round that decided is round 8; only an override of its decision takes the place of that."""
    run = tmp_path / "run"
    shutil.copytree(long_fork(), run)
    last = list(open_run(run).book.of(Decision))[-1]
    assert last.id == "D-8-1"
    if overridden is not None:
        assert moot("override", run, overridden, INSTEAD, "--by", "Ada").code == 0
    answer = moot("status", run, "--json").json["outcome"]["answer"]
    words = INSTEAD if overridden == last.id else "The team keeps O-2"
    assert answer.startswith(f"Not final: {words}")
