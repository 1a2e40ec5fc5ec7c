"""A verb is a row of the table, a function in the file of its family, and what it prints with --json."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import moot as moot_package
from moot.cli import BY_NAME, Verb
from moot.cli.command import VerbResult, run_verb
from moot.view.results import RemovedRun


@pytest.mark.parametrize("name", ["doctor", "demo", "replay", "rm", "export"])
def test_a_verb_is_named_in_three_files_of_the_product(name: str) -> None:
    """Its row, its function in the file of its family, and the row of what it prints with --json."""
    root = Path(moot_package.__file__).parent
    named = re.compile(rf'"{name}"|def {name}\(')
    places = {
        path.relative_to(root).as_posix() for path in root.rglob("*.py") if named.search(path.read_text())
    }
    family = BY_NAME[name].path.removeprefix("moot.").replace(".", "/") + ".py"
    assert places == {"cli/__init__.py", family, "output_schemas.py"}


def test_a_new_verb_is_a_row_and_a_function(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def count(words: list[str]) -> VerbResult:
        """Count words.

        Example: moot count a b
        """
        removed = RemovedRun(run=str(len(words)), removed=words)
        return VerbResult(removed, lambda: f"{len(words)} words\n", 1)

    family = ModuleType("moot.cli.counting")
    family.count = count  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "moot.cli.counting", family)
    verb = Verb("count", "Look at runs", "count words", "counting")
    for form, out in (
        ([], "2 words\n"),
        (["--json"], '{"run":"2","removed":["a","b"]}\n'),
        (["--quiet"], ""),
    ):
        assert run_verb(verb, ["a", "b", *form]) == 1
        assert capsys.readouterr().out == out
