"""The repository tree: what stands at its root, how many files there are, and no file twice."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
AT_THE_ROOT = frozenset({
    "ledger", "roles", "rounds", "validators", "detectors", "schemas", "moot",
    "runs", "tests", "docs", "benchmarks", "studies", "integrations",
    "README.md", "CHANGELOG.md", "LICENSE", "Makefile", "pyproject.toml", "requirements.lock",
    ".ci", ".github", ".gitattributes", ".gitignore", ".pre-commit-hooks.yaml",
})  # fmt: skip
FILES_MAX = 1_251
"""Tracked files outside of the recorded runs. It may only fall."""
SMALL_BYTES = 200
"""Files up to this size may agree by chance: `py.typed`, an empty `__init__.py`."""
FROZEN = "roles/prompts/"
"""Prompt sets that recorded runs were played with: a block may stand in two of them."""


@cache
def tracked() -> tuple[str, ...]:
    """Return the paths that git tracks and that are here."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    paths = tuple(name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file())
    if not paths:
        pytest.skip("this tree is no git repository")
    return paths


def test_the_root_has_only_what_is_on_the_list() -> None:
    assert {name.split("/")[0] for name in tracked()} - AT_THE_ROOT == set()
    assert len(AT_THE_ROOT) <= 24


def test_the_number_of_files_does_not_grow() -> None:
    assert len([name for name in tracked() if not name.startswith("runs/")]) <= FILES_MAX


def test_no_file_stands_twice() -> None:
    places = defaultdict(list)
    for name in tracked():
        # Two readers who agree on every label write the same file.
        if not name.startswith(("runs/", FROZEN, "benchmarks/gate/labels-")):
            content = (ROOT / name).read_bytes()
            if len(content) > SMALL_BYTES:
                places[sha256(content).digest()].append(name)
    assert [names for names in places.values() if len(names) > 1] == []


def test_git_translates_no_line_ends_in_runs_and_archives() -> None:
    paths = ["runs/examples/tribunal-medicines/claims.jsonl", "studies/pilot/archive.tar.xz"]
    tracked()
    command = ["git", "check-attr", "text", "--", *paths]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == [f"{path}: text: unset" for path in paths]
