"""Formats: a ledger of a newer one is refused in words, and nothing is written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledger.store.store import OtherFormat, RunStore
from tests.cli.conftest import Moot, content, moot

__all__ = ["moot"]

VERSIONS = Path(__file__).with_name("versions")


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return Path(shutil.copytree(VERSIONS / "format-3", tmp_path / "new"))


def test_a_newer_ledger_is_refused_with_the_version_that_it_needs(moot: Moot, new: Path) -> None:
    before = content(new)
    with pytest.raises(OtherFormat) as caught:
        RunStore(new).events()
    assert caught.value.exit_code == 2
    for verb in (
        "status",
        "claims",
        "decisions",
        "log",
        "verify",
        "check",
        "signals",
        "report",
        "replay",
        "next",
    ):
        said = moot(verb, new)
        assert said.code == 2, said
        assert said.out == ""
        assert "format version 3" in said.err
        assert said.err.count("\n") == 1
    assert moot("note", new, "a remark").code == 2
    assert moot("redact", new, "K-1", "--reason", "x").code == 2
    assert content(new) == before
