"""A plan that cannot become ready is named by `new`, and by `run` before its first reply."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Moot

FILE = """
[deliberation]
question = "Which storage keeps every line?"
options = ["a", "b"]
protocol = "structured"
plan = "short-5"
"""
ASKED = ("run", "--seats", "host")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("no_stress = true", "no round is planned without the critic"),
        ('positions = "sealed"', "no role is asked what it would answer now (rule positions=beliefs)"),
    ],
)
def test_run_warns_as_soon_as_it_is_opened(moot: Moot, tmp_path: Path, more: str, why: str) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(FILE + more + "\n")
    said = moot(*ASKED, file, "--out", tmp_path / "run")
    assert said.code == 4
    assert f"warning: this plan cannot become ready: {why}; the run ends with its plan\n" in said.err
    assert "warning" not in moot(*ASKED, file, "--out", tmp_path / "quiet", "--quiet").err


def test_new_says_it_of_the_file_that_it_writes(moot: Moot, tmp_path: Path) -> None:
    words = ("new", "-q", "Which?", "--protocol", "structured", "--plan", "short-5")
    assert "CANNOT BECOME READY" not in moot(*words, tmp_path / "good.toml").out
    said = moot(*words, "--rule", "stress=off", tmp_path / "bad.toml")
    assert (
        "CANNOT BECOME READY no round is planned without the critic: the run ends with its plan" in said.out
    )
    found = moot(*words, "--rule", "stress=off", tmp_path / "again.toml", "--json").json
    assert found["lacks"] == ["no round is planned without the critic"]
    assert found["seldom"] == ""


def test_new_says_that_a_short_plan_seldom_becomes_ready(moot: Moot, tmp_path: Path) -> None:
    words = ("new", "-q", "Which?", "--protocol", "structured", "--plan")
    assert "SELDOM BECOMES READY 4 rounds" in moot(*words, "short-5", tmp_path / "short.toml").out
    assert "SELDOM" not in moot(*words, "minimum-8", tmp_path / "longer.toml").out
    assert moot(*words, "minimum-8", tmp_path / "again.toml", "--json").json["seldom"] == ""


def test_a_shipped_plan_is_not_warned_of_nor_a_protocol_without_readiness(moot: Moot, tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(FILE)
    assert "cannot become ready" not in moot(*ASKED, file, "--out", tmp_path / "run").err
    told = moot("run", "-q", "Which?", "--seats", "host", "--out", tmp_path / "crux")
    assert "cannot become ready" not in told.err
