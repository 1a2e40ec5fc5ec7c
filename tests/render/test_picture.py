"""Pictures for the documentation: drawn from what a command prints on a terminal, and they load nothing."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from moot.__main__ import main as moot
from tests.long_run import ROOT, long_run
from tests.render.picture import main


def test_a_picture_shows_what_the_command_prints_and_loads_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pictures" / "run.svg"
    code = main([str(file), "--columns", "120", "--", "signals", str(long_run())])
    assert code == moot(["signals", str(long_run())])
    printed = re.findall(r"[A-Za-z]{6,}", capsys.readouterr().out)
    picture = file.read_text("utf-8")
    missing = [word for word in printed if word not in picture]
    assert len(missing) < len(printed) / 10, "a word may be split where a line is folded, others not"
    assert picture.startswith("<svg")
    assert len(set(re.findall(r"fill: (#[0-9a-f]{6})", picture))) > 2, "it has the colors of a terminal"
    assert not re.search(r"url\((?!#)|@font-face|@import|<image|xlink:href|src=", picture)


def test_the_picture_of_the_readme_is_what_the_command_prints_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had kept a row that the outcome no longer has."""
    monkeypatch.chdir(ROOT)
    drawn = tmp_path / "outcome.svg"
    assert main([str(drawn), "--", "outcome", "runs/examples/crux-balance"]) == 0
    kept = ROOT / "docs" / "pictures" / "outcome.svg"
    if os.environ.get("MOOT_WRITE_GOLDEN") == "1":
        shutil.copy(drawn, kept)
    assert kept.read_bytes() == drawn.read_bytes()
