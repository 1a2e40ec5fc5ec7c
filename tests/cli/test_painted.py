"""The look that costs a line: a colored status, a bold answer, and errors that break between words."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ledger.plain_text import counted
from moot.api import open_run
from moot.terminal import streams
from moot.terminal.streams import painted
from moot.view.outcome_text import outcome_text
from tests.long_run import long_fork, long_run
from tests.protocols.playing import played


@pytest.mark.parametrize(
    ("run_of", "status", "color"),
    [
        (long_run, "decided", "1;32"),
        (partial(played, "council"), "your_call", "1;35"),
        (long_fork, "running", "1;36"),
    ],
)
def test_the_status_has_its_color_and_the_answer_is_bold(
    run_of: Callable[[], Path], status: str, color: str
) -> None:
    outcome, name = open_run(run_of()).outcome, "run"
    assert outcome.status == status
    text = outcome_text(outcome, name, 80)
    lines = painted(text, outcome.status).split("\n")
    colored = [line for line in lines if line.startswith(f"\x1b[{color}m")]
    bold = [line for line in lines if line.startswith("\x1b[1m")]
    assert len(colored) >= 1
    assert bold[0].startswith("\x1b[1manswer")
    assert all(line.endswith("\x1b[0m") for line in (*colored, *bold))
    assert "how sure" not in "".join(bold)
    plain = "\n".join(lines)
    for code in (f"\x1b[{color}m", "\x1b[1m", "\x1b[0m"):
        plain = plain.replace(code, "")
    assert plain == text


def test_text_without_an_outcome_is_left_as_it_is() -> None:
    assert painted("the run is finished\n", "decided") == "the run is finished\n"


def test_an_error_breaks_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((40, 24)))
    monkeypatch.setattr(sys.stderr, "fileno", lambda: 2)
    words = "moot: cannot reach http://127.0.0.1:11434 (connection refused); is the server running here?"
    streams.err(words + "\n")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 40
    assert " ".join(" ".join(lines).split()) == words


@pytest.mark.parametrize(
    ("number", "noun", "told"),
    [(1, "reply", "1 reply"), (2, "reply", "2 replies"), (0, "day", "0 days"), (3, "process", "3 processes"),
     (1_200, "claim", "1,200 claims"), (2, "memory", "2 memories"), (2, "key", "2 keys")],
)  # fmt: skip
def test_a_number_has_its_noun(number: int, noun: str, told: str) -> None:
    assert counted(number, noun) == told
