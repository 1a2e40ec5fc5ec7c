"""What a new verb and a new provider touch: a row and their code, no list elsewhere (a kind: `test_kinds.py`)."""

from __future__ import annotations

import ast
import sys
from types import ModuleType
from typing import Any

import pytest

import moot.__main__
import moot.cli
from moot.app.seat_specs import read_spec
from moot.app.seats import make_seats
from moot.cli import HELP, VERBS, Verb
from moot.errors import GOOD
from roles.seats.registry import PROVIDERS, Provider, Wanted
from tests.architecture.test_house import sources


def first_texts(node: ast.AST) -> set[str]:
    """The texts of a table, or those that its rows begin with."""
    entries = [*getattr(node, "elts", []), *getattr(node, "keys", [])]
    begins = [
        entry.args[0]
        if isinstance(entry, ast.Call) and entry.args
        else entry.elts[0]
        if isinstance(entry, ast.Tuple) and entry.elts
        else entry
        for entry in entries
    ]
    return {
        begin.value for begin in begins if isinstance(begin, ast.Constant) and isinstance(begin.value, str)
    }


def files_that_list(names: set[str]) -> set[str]:
    """The files with a table of most of these names, which another one would have to join."""
    return {
        path
        for path, text in sources().items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Dict | ast.Tuple | ast.Set | ast.List)
        and 2 * len(first_texts(node) & names) > len(names)
    }


def test_a_new_verb_touches_its_row_its_function_and_the_schema_of_its_output() -> None:
    # Tools for agent hosts are a choice of their own (moot/mcp/rights.py): a verb need not be one.
    forced = files_that_list({verb.name for verb in VERBS}) - {"moot/mcp/rights.py"}
    assert forced == {"moot/cli/__init__.py", "moot/output_schemas.py"}


def test_a_verb_is_called_and_listed_by_its_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def sample(word: str = "nothing") -> int:
        """Say a word."""
        print(f"it says {word}")
        return GOOD

    module: Any = ModuleType("moot.cli.sample")
    module.sample = sample
    row = Verb("sample", HELP, "say a word")
    monkeypatch.setitem(sys.modules, row.path, module)
    monkeypatch.setitem(moot.cli.BY_NAME, "sample", row)
    monkeypatch.setattr(moot.__main__, "VERBS", (*VERBS, row))
    assert moot.__main__.main(["sample", "--word", "yes"]) == GOOD
    assert capsys.readouterr().out == "it says yes\n"
    moot.__main__.main(["help", "--all"])
    assert "say a word" in capsys.readouterr().out


class Sample:
    """A seat of a provider that this test adds."""

    kind = "openai"


def seat_of(wanted: Wanted) -> Any:
    """Make the seat, as the module of an adapter does."""
    seat = Sample()
    seat.declared = f"sample:{wanted.rest}"  # type: ignore[attr-defined]
    return seat


def test_a_provider_is_a_row_and_an_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert files_that_list(set(PROVIDERS)) == set(), (
        "the rows are in one table, and no other names most of them"
    )
    row = Provider(name="sample", help="a sample", runs="api", seat="openai", adapter=__name__)
    monkeypatch.delenv("MOOT_OFFLINE", raising=False)
    monkeypatch.setitem(PROVIDERS, "sample", row)
    assert read_spec("sample:m")[:2] == (row, "m")
    (seat,) = make_seats({"solo": "sample:m"}).values()
    assert isinstance(seat, Sample)
