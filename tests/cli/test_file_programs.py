"""Programs that a deliberation file names: started with the person's word, and never without it (F-5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Moot
from tests.cli.test_asking import Terminal

FILE = """
[deliberation]
question = "Which storage?"
protocol = "council"
[cast.solo]
seat = "command:sh -c 'touch started'"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that somebody sent."""
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "command")
    path = tmp_path / "sent.toml"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize("flags", [[], ["--json"], ["--quiet"], ["--max-usd", "1"], ["--no-live"]])
def test_a_program_from_a_file_is_not_started_unasked(moot: Moot, file: Path, flags: list[str]) -> None:
    """F-5: `moot run FILE` started whatever the file named."""
    said = moot("run", file, "--out", "run", *flags)
    assert said.code == 2
    assert "touch started" in said.out + said.err
    assert "--allow-commands" in said.out + said.err
    assert not Path("started").exists()
    assert not Path("run").exists()


def test_with_the_person_s_word_it_is(moot: Moot, file: Path) -> None:
    moot("run", file, "--out", "run", "--allow-commands")
    assert Path("started").exists()


def test_what_the_command_line_names_is_the_person_s_word(moot: Moot, file: Path) -> None:
    assert moot("run", file, "--out", "run", "--seats", "host").code == 4
    assert not Path("started").exists()
    moot("run", file, "--out", "other", "--seat", "solo=command:sh -c 'touch mine'")
    assert (Path("mine").exists(), Path("started").exists()) == (True, False)


@pytest.mark.parametrize(("word", "started"), [("", False), ("n", False), ("y", True)])
def test_on_a_terminal_the_person_is_asked(file: Path, tmp_path: Path, word: str, started: bool) -> None:
    terminal = Terminal(tmp_path, "run", str(file), "--out", "run")
    terminal.expect("touch started")
    terminal.expect("Start them?")
    terminal.type(word)
    code, said = terminal.end()
    assert (code == 2) is not started, said
    assert (tmp_path / "started").exists() is started
    assert (tmp_path / "run").exists() is started
