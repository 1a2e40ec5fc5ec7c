"""Formats: a ledger of another one is refused in words, and nothing is written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledger.store.failures import OtherFormat
from ledger.store.store import RunStore
from tests.cli.conftest import Moot, content, moot

__all__ = ["moot"]

VERSIONS = Path(__file__).with_name("versions")


@pytest.mark.parametrize(
    ("version", "says"),
    [
        (1, "written by moot 0.1"),
        (2, "docs/upgrade.md says how to read it"),
        (4, "install a moot that reads version 4"),
    ],
)
def test_another_format_is_refused_in_words(moot: Moot, tmp_path: Path, version: int, says: str) -> None:
    new = Path(shutil.copytree(VERSIONS / f"format-{version}", tmp_path / "new"))
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
        assert says in said.err
        assert said.err.count("\n") == 1
    assert moot("note", new, "a remark").code == 2
    assert moot("redact", new, "K-1", "--reason", "x").code == 2
    assert content(new) == before
