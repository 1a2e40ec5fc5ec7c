"""Pictures for the documentation: drawn by the views from a run, and they fetch nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moot.picture import main
from tests.rounds.openings import begin, play, rows


@pytest.mark.parametrize("view", ["live", "signals"])
def test_a_picture_of_a_run_fetches_nothing(tmp_path: Path, view: str) -> None:
    play(begin(tmp_path / "run", rows(1)))
    after = ["--after", "r1.E.check2.verifier"] if view == "live" else []
    main([view, str(tmp_path / "run"), str(tmp_path / "pictures" / "run.svg"), *after])
    picture = (tmp_path / "pictures" / "run.svg").read_text("utf-8")
    assert picture.startswith("<svg")
    assert "check" in picture or "signals" in picture
    assert not re.search(r"url\((?!#)|@font-face|@import|<image|xlink:href|src=", picture)
