"""docs/studies.md: its file is a study, its commands are understood, its figures are the program's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from moot.__main__ import main
from moot.errors import GOOD, WAITING
from moot.studies.definition import read_keys, read_study
from moot.studies.statistics import smallest_difference
from tests.studies.scripted import filled

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = (ROOT / "docs" / "studies.md").read_text("utf-8")


@pytest.mark.slow
def test_the_first_commands_do_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    block = re.search(r"```bash\n(moot study new.*?)```", PAGE, re.DOTALL)
    assert block is not None
    new, run, report = (shlex.split(line)[1:] for line in block[1].strip().splitlines())
    assert main(new) == GOOD
    assert main([*run, "--workers", "1"]) == WAITING, "host seats: the steps are open now"
    study = read_study("my-study")
    filled(study)
    (tmp_path / "keys.toml").write_text('[answers]\nexample = "O-3"\n')
    assert read_keys(study, "keys.toml") == {"example": "O-3"}
    assert main(report) == GOOD
    assert "What does not hold" in capsys.readouterr().out


def test_the_file_of_the_page_is_a_study(tmp_path: Path) -> None:
    shown = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    (tmp_path / "study.toml").write_text(shown[1])
    (tmp_path / "eviction").mkdir()
    (tmp_path / "eviction" / "deliberation.toml").write_text('[deliberation]\nquestion = "Which?"\n')
    study = read_study(str(tmp_path))
    assert [arm.id for arm in study.file.arm] == ["single", "best-of-4", "crux"]
    assert study.repetitions("eviction") == 2


def test_what_items_can_show_is_what_the_page_says() -> None:
    said = re.search(
        r"12 questions show only differences of (\d+) points or more, 100 questions (\d+) points", PAGE
    )
    assert said is not None
    assert [round(100 * (smallest_difference(n) or 0)) for n in (12, 100)] == [int(said[1]), int(said[2])]
