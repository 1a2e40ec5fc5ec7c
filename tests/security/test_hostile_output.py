"""Whatever a run holds, what moot writes about it commands no terminal, hides no word and runs nowhere."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from ledger.format.canonical import encode
from ledger.store.store import RunStore
from tests.cli.conftest import Moot, moot
from tests.security.hostile_runs import played
from tests.security.injections import CORPUS, alone

__all__ = ["moot"]

UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
VERBS: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("claims",),
    ("decisions",),
    ("log",),
    ("report",),
    ("check",),
    ("signals",),
    ("replay",),
    ("verify",),
    ("doctor",),
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("hostile") / "run", alone).session.run.path


def unseen(text: str) -> set[str]:
    return {one for one in text if unicodedata.category(one) in UNSEEN and one != "\n"}


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_text_for_people(moot: Moot, hostile: Path, verb: tuple[str, ...]) -> None:
    said = moot(*verb, *(() if verb == ("doctor",) else (hostile,)))
    assert said.code in (0, 1), said.err
    assert said.out
    assert not unseen(said.out + said.err)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_json(moot: Moot, hostile: Path, verb: tuple[str, ...]) -> None:
    said = moot(*verb, *(() if verb == ("doctor",) else (hostile,)), "--json")
    assert not unseen(said.out)
    assert all(isinstance(json.loads(line), dict) for line in said.out.splitlines())


def test_json_says_what_the_ledger_holds(moot: Moot, hostile: Path) -> None:
    """Escaped is not changed: the words come back as they were said."""
    claims = {event.id: event.text for event in RunStore(hostile).book().events if event.kind == "claim"}
    said: Any = moot("claims", hostile, "--json").json
    assert {one["id"]: one["text"] for one in said["claims"]} == claims


def test_markdown_files(moot: Moot, hostile: Path, tmp_path: Path) -> None:
    assert moot("export", hostile, "out", "--to", "skill").code == 0
    files = [path for path in (tmp_path / "out").rglob("*.md") if "context" not in path.parts]
    assert files
    for path in files:
        text = path.read_text("utf-8")
        assert not unseen(text), path
        assert "<script" not in text.replace("\\<script", "")
        assert not any(line.startswith("# Your task") for line in text.split("\n"))


def test_lines_of_the_ledger_are_one_line_each(hostile: Path) -> None:
    """U+2028 and its like stay inside their string: a stream has as many lines as events."""
    run = RunStore(hostile)
    lines = b"".join(
        (hostile / f"{name}.jsonl").read_bytes() for name in ("claims", "verifications", "decisions")
    )
    assert lines.count(b"\n") == len(run.book().events)
    assert sorted(lines.split(b"\n")[:-1]) == sorted(encode(event) for event in run.book().events)
    assert any("\u2028" in text for text in CORPUS)
