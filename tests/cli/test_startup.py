"""What a verb imports before it can answer, and what it does not: that is most of what it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import commands
from tests.cli.conftest import Moot

ROOT = Path(__file__).resolve().parents[2]
LOADED = """
import sys
from moot.__main__ import main
main(sys.argv[1:])
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    """The top-level packages that are in memory after a verb."""
    command = [sys.executable, "-c", LOADED, *arguments]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return set(said.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("verb", ["status", "check", "signals", "claims", "decisions", "verify"])
def test_a_verb_that_looks_builds_no_models_and_explains_no_schema(
    finished: Path, verb: str, form: list[str]
) -> None:
    found = loaded(verb, str(finished), *form)
    assert not found & {"pydantic", "pydantic_core", "jsonschema", "anthropic", "httpx", "asyncio"}
    assert ("rich" in found) == (verb == "signals" and not form)


def test_the_rules_and_the_detectors_are_loaded_by_those_that_ask_them(finished: Path) -> None:
    assert not loaded("status", str(finished)) & {"validators", "detectors", "rounds"}
    assert "validators" not in loaded("signals", str(finished))


def test_a_word_is_taken_as_it_is_and_a_number_is_still_a_number(moot: Moot, finished: Path) -> None:
    assert moot("signals", str(finished), "--at", "20", "--json").json["at"] == 20
    refused = moot("signals", str(finished), "--at", "twenty")
    assert refused.code == 2
    assert "'--at'" in refused.err
    assert "valid integer" in refused.err


def test_the_benchmark_measures_every_process_and_none_imports_the_sdk(finished: Path) -> None:
    rows = {row.name: row for row in commands.measured(finished, turns=1)}
    assert list(rows) == list(commands.processes(finished))
    assert not any(row.with_sdk for row in rows.values())
    assert rows["moot --help"].modules < rows[commands.MEASURE].modules
    assert all(row.cpu_ms > 0 for row in rows.values())
