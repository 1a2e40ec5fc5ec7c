"""`moot gate`: a question is text, however long, and a file only where it is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Moot


@pytest.mark.parametrize(
    "text",
    [
        "Should our team go on with its small internal wiki? " * 12,
        "Should we replace setup.cfg by pyproject.toml",
        "Makefile",
    ],
)
def test_a_question_is_never_taken_for_a_file(moot: Moot, tmp_path: Path, text: str) -> None:
    (tmp_path / "Makefile").write_text("all:\n")
    said = moot("gate", text, "--json")
    assert said.code == 0, said.err
    assert said.json["route"] in ("single-pass", "jugalbandi", "structured")


@pytest.mark.parametrize("text", ["", "   \n"])
def test_nothing_is_no_question(moot: Moot, text: str) -> None:
    said = moot("gate", text)
    assert said.code == 2
    assert "no question" in said.err


def test_a_deliberation_file_is_read(moot: Moot, tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('[deliberation]\nquestion = "Migrate the billing database with zero downtime"\n')
    assert moot("gate", str(file), "--json").json["route"] == "structured"
    assert moot("gate", str(tmp_path / "none.toml")).code == 2
