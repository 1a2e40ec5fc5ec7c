"""What a run that goes on tells first: the main decision of its last round, whatever a person overrides meanwhile."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Moot

RECORDED = Path(__file__).parents[2] / "runs" / "examples" / "structured-rescue"


@pytest.mark.parametrize(
    ("overridden", "told"),
    [
        (None, "Not final: Pagers on the service's own radio network stay the first choice"),
        ("D-4-2", "Not final: Pagers on the service's own radio network stay the first choice"),
        ("D-2-1", "Not final: Pagers on the service's own radio network stay the first choice"),
        ("D-4-1", "Not final: Nothing is bought this year."),
    ],
)
def test_the_main_decision_is_told(moot: Moot, tmp_path: Path, overridden: str | None, told: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(RECORDED, run)
    if overridden is not None:
        assert moot("override", run, overridden, "Nothing is bought this year.", "--by", "Ada").code == 0
    assert moot("status", run, "--json").json["outcome"]["answer"].startswith(told)
