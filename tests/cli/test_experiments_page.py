"""docs/experiments.md: its example is done as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.conftest import Moot
from tests.rounds.experimenting import sandbox_or_skip, with_claims

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "experiments.md").read_text("utf-8")


def test_the_example_of_the_page(moot: Moot, tmp_path: Path) -> None:
    sandbox_or_skip()
    with_claims(tmp_path / "storage")
    files = re.findall(r"```\w+\n# file: (\S+)\n(.*?)```", PAGE, re.S)
    assert len(files) == 5
    for name, text in files:
        (tmp_path / name).write_text(text)
    (console,) = re.findall(r"```console\n(.*?)```", PAGE, re.S)
    calls = re.findall(r"\$ moot (.*)\n(.*)\n", console)
    assert len(calls) == 4
    for words, line in calls:
        said = moot(*shlex.split(words))
        assert said.code == 0, said.err
        assert line in said.out.splitlines()
