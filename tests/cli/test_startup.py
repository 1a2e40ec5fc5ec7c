"""What a verb imports before it can answer, and what it does not: that is most of what it costs."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperCommand

from benchmarks import commands
from moot.cli import VERBS
from moot.cli.command import command_of
from tests.architecture.rooms import nodes
from tests.cli.conftest import Moot

ROOT = Path(__file__).resolve().parents[2]
LOADED = """
import json
import sys
from moot.__main__ import main
for call in json.loads(sys.argv[1]):
    main(call)
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def loaded(*calls: list[str]) -> set[str]:
    """The top-level packages that are in memory after these calls."""
    command = [sys.executable, "-c", LOADED, json.dumps(calls)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return set(said.stderr.splitlines()[-1].split())


HEAVY = {"pydantic", "pydantic_core", "jsonschema", "anthropic", "httpx", "asyncio"}
PLAIN = ("status", "check", "claims", "decisions", "verify")
"""Verbs whose text needs no layout."""


def test_no_verb_that_looks_builds_models_or_explains_a_schema(finished: Path) -> None:
    """One process for them all: what one of them loaded would still be there at the end."""
    calls = [[verb, str(finished), *form] for verb in PLAIN for form in ([], ["--json"])]
    found = loaded(*calls, ["signals", str(finished), "--json"])
    assert not found & {*HEAVY, "rich"}
    found = loaded(["signals", str(finished)])
    assert not found & HEAVY
    assert "rich" in found


def test_what_only_runs_of_crux_need_is_loaded_for_them(finished: Path) -> None:
    code = LOADED.replace('name.partition(".")[0] for', "name for")
    said = subprocess.run(
        [sys.executable, "-c", code, json.dumps([["status", str(finished)]])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = set(said.stderr.splitlines()[-1].split())
    assert "moot.view.outcome" in found
    # `structured` reads whether its beliefs are settled, too, so the arithmetic of beliefs is not crux's alone
    assert not found & {"rounds.protocols.crux", "roles.memo.checks", "roles.brief"}


def test_the_rules_and_the_detectors_are_loaded_by_those_that_ask_them(finished: Path) -> None:
    assert not loaded(["log", str(finished)]) & {"validators", "detectors"}
    assert "validators" not in loaded(["status", str(finished)], ["signals", str(finished)])


def test_a_word_is_taken_as_it_is_and_a_number_is_still_a_number(moot: Moot, finished: Path) -> None:
    assert moot("signals", str(finished), "--at", "20", "--json").json["at"] == 20
    refused = moot("signals", str(finished), "--at", "twenty")
    assert refused.code == 2
    assert "'--at'" in refused.err
    assert "valid integer" in refused.err


def test_no_private_part_of_another_package_is_imported() -> None:
    """R-28: typer's `_coercion` was, with any later version allowed."""
    own = {"detectors", "ledger", "moot", "roles", "rounds", "schemas", "validators", "__future__"}
    found = []
    for package in sorted(own - {"__future__"}):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in nodes(path.read_text("utf-8")):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                names += [one.name for one in node.names] if isinstance(node, ast.Import) else []
                parts = [name.split(".") for name in names]
                found += [
                    f"{path}: {'.'.join(one)}"
                    for one in parts
                    if one[0] not in own and any(part.startswith("_") for part in one)
                ]
    assert found == []


def test_a_typer_without_late_conversion_is_slower_and_nothing_else(
    moot: Moot, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-28: what moot takes from typer may go, and every verb goes on."""
    told = moot("status", str(finished), "--json").out
    monkeypatch.setattr(TyperCommand, "get_params", _without_late_conversion)
    assert moot("status", str(finished), "--json").out == told
    assert moot("log", str(finished), "--round", "1", "--json").json["events"]
    assert moot("log", str(finished), "--round", "one").code == 2


def test_a_verb_is_declared_once_and_can_be_called_again_and_again(moot: Moot, finished: Path) -> None:
    log = next(verb for verb in VERBS if verb.name == "log")
    command = command_of(log)
    assert command_of(log) is command
    context = command.make_context("log", [str(finished)])
    for _ in range(1_100):  # deeper than Python calls, if each call left something behind
        command.get_params(context)
    assert moot("log", str(finished), "--round", "1", "--json").json["events"]
    assert moot("log", str(finished), "--round", "one").code == 2


class _Plain:
    """A parameter as another typer might have it."""

    def __init__(self, parameter: Any) -> None:
        self._parameter = parameter

    def __getattr__(self, name: str) -> Any:
        if name == "get_runtime_param":
            raise AttributeError(name)
        return getattr(self._parameter, name)


_WITH = TyperCommand.get_params


def _without_late_conversion(self: Any, ctx: Any) -> list[Any]:
    return [_Plain(parameter) for parameter in _WITH(self, ctx)]


@pytest.mark.slow  # dozens of processes
def test_the_benchmark_measures_every_process_and_none_imports_the_sdk(finished: Path) -> None:
    rows = {row.name: row for row in commands.measured(finished, turns=1)}
    assert list(rows) == list(commands.processes(finished))
    assert not any(row.with_sdk for row in rows.values())
    assert rows["moot --help"].modules < rows[commands.MEASURE].modules
    assert all(row.cpu_ms > 0 for row in rows.values())
