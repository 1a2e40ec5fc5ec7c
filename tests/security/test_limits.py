"""Huge, deep, doubled or impossible input is refused in words, with little work, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Moot, Said, content, moot, opened
from tests.effort import bounded
from tests.security.hostile_bytes import HOSTILE_JSON, HOSTILE_TOML

__all__ = ["moot", "opened"]


def refused(call: Moot, *arguments: object) -> Said:
    """The call, which was little work and did not fail by a fault of moot's."""
    with bounded(" ".join(map(str, arguments[:2]))):
        said = call(*arguments)
    assert said.code in (1, 2), said
    assert "fault of moot's" not in said.err
    assert "Traceback" not in said.err
    assert all(line.isprintable() for line in (said.out + said.err).splitlines())
    return said


@pytest.mark.parametrize("name", HOSTILE_JSON)
def test_a_reply(moot: Moot, opened: Path, tmp_path: Path, name: str) -> None:
    before = content(opened)
    (tmp_path / "reply.json").write_bytes(HOSTILE_JSON[name])
    said = refused(moot, "submit", opened, "r1.B.action", "reply.json")
    assert said.err.splitlines()[0].startswith("moot: the reply to r1.B.action is refused: ")
    assert len(said.err) < 1_000
    assert content(opened) == before


@pytest.mark.parametrize("name", HOSTILE_JSON)
def test_an_import(moot: Moot, tmp_path: Path, name: str) -> None:
    if name == "nothing":
        pytest.skip("an empty line is no row")
    source = tmp_path / "source"
    source.mkdir()
    for stem in ("claims", "verifications", "decisions"):
        (source / f"{stem}.jsonl").write_bytes(HOSTILE_JSON[name] + b"\n" if stem == "claims" else b"")
    said = refused(moot, "import", "skill", source, "--out", "out")
    assert "claims.jsonl:1: " in said.out
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", HOSTILE_TOML)
def test_a_deliberation(moot: Moot, tmp_path: Path, name: str) -> None:
    (tmp_path / "d.toml").write_bytes(HOSTILE_TOML[name])
    said = refused(moot, "run", "d.toml", "--seats", "host", "--out", "out")
    assert said.err.count("\n") == 1
    assert "d.toml" in said.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("said", ["a\x1b[31mb", "a\x9bb", "a\udcffb", "a\x00b"])
def test_words_of_the_command_line(moot: Moot, opened: Path, said: str) -> None:
    before = content(opened)
    for call in (
        ("note", opened, said),
        ("submit", opened, "r1.B.action", "--give-up", said),
        ("run", "-q", said, "--seats", "host", "--out", "out"),
        ("seal", "--new-key", f"keys/{said}"),
    ):
        refused(moot, *call)
    assert content(opened) == before
