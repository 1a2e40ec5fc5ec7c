"""The two locks: what runs is pinned as what is tested, and holds what the project declares."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _pins(name: str) -> dict[str, str]:
    entries = re.split(r"^(?=[A-Za-z])", (ROOT / name).read_text("utf-8"), flags=re.MULTILINE)
    marker = re.compile(r" (?:;[^\\\n]*)?(?=\\\n)")  # on which systems it is wanted: fewer without the tools
    return {entry.partition("==")[0]: marker.sub("", entry) for entry in entries if "==" in entry}


def test_what_runs_is_pinned_as_what_is_tested() -> None:
    tested, run = _pins("requirements.lock"), _pins("requirements-run.lock")
    assert {name for name, entry in run.items() if tested.get(name) != entry} == set()
    assert len(run) < len(tested)


def test_what_runs_is_what_the_project_declares_and_no_tool() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    declared = {re.split(r"[<>=\[]", word)[0] for word in project["project"]["dependencies"]}
    run = _pins("requirements-run.lock")
    assert declared <= set(run)
    assert {"pytest", "mypy", "playwright", "pyright"}.isdisjoint(run)
