"""The main verbs on terminals of 60 to 120 columns: exact screens, no word broken, and a pager for what is longer."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import pytest

from moot.terminal import streams
from moot.terminal.streams import folded_at
from tests.cli.conftest import Moot
from tests.long_run import long_run
from tests.protocols.playing import begin, played
from tests.recorded import EXAMPLES
from tests.render.golden import agrees

WIDTHS = (60, 80, 120)
VERBS: Final[dict[str, tuple[object, ...]]] = {
    "status": ("status", "RUN/long"),
    "decisions": ("decisions", "RUN/long", "--final"),
    "why": ("why", "RUN/long", "D-13-4"),
    "show": ("show", "RUN/long", "C-1-1"),
    "list": ("list", "RUN"),
    "claims": ("claims", "RUN/long", "--status", "superseded"),
    "next": ("next", "open"),
    "gate": ("gate", "Should we move the bookings to another database before the season?"),
    "report": ("report", "RUN/tribunal", "--page"),
}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A terminal that is long enough for everything."""
    monkeypatch.setattr(streams, "on_terminal", lambda: True)
    monkeypatch.setenv("LINES", "5000")
    return monkeypatch


def lay_out(directory: Path) -> None:
    """An open run, and a directory of three scripted ones."""
    begin(directory / "open", "tribunal")
    (directory / "RUN").mkdir()
    runs = (("long", long_run()), ("debate", played("debate")), ("tribunal", played("tribunal")))
    for second, (name, run) in enumerate(runs):
        # The list begins with the latest run, and here any of the three may have been made first.
        os.utime(run / "head", (second, second))
        (directory / "RUN" / name).symlink_to(run)


HASH = re.compile(r"\b[0-9a-f]{64}\b")
COLORS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_screen(verb: str, width: int, moot: Moot, terminal: pytest.MonkeyPatch, tmp_path: Path) -> None:
    terminal.setenv("COLUMNS", str(width))
    lay_out(tmp_path)
    said = moot(*VERBS[verb])
    assert said.code in (0, 4), said.err
    text = COLORS.sub("", said.out)
    assert (text != said.out) == (verb == "status")  # its outcome is in color on a terminal
    if verb != "report":  # Markdown is passed on as it is
        wide = [line for line in text.splitlines() if len(line) > width and " " in line.strip()]
        assert not wide
    if verb != "gate":  # its prices are of the day
        agrees("screens", f"{verb}-{width}", HASH.sub("0" * 64, text))


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - {"list", "gate"}))
def test_no_word_is_broken(verb: str, moot: Moot, terminal: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a narrow terminal shows is made of words that a wide one shows, or that a pipe gets."""
    lay_out(tmp_path)
    terminal.setenv("COLUMNS", "120")
    whole = COLORS.sub("", moot(*VERBS[verb]).out) + moot(*VERBS[verb], "--json").out
    terminal.setenv("COLUMNS", "60")
    for word in COLORS.sub("", moot(*VERBS[verb]).out).split():
        stem = word.strip("…").rstrip(",;:.")
        assert stem in whole or not re.fullmatch(r"[A-Za-z]{3,}", stem), word


def test_a_long_line_goes_on_under_its_margin() -> None:
    assert folded_at("  one two three\nshort", 10) == "  one two\n   three\nshort"
    assert folded_at("unbreakable-and-long", 8) == "unbreakable-and-long"


@pytest.fixture
def pager(terminal: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A pager that keeps what it was given, on a terminal of ten lines."""
    kept = tmp_path / "paged"
    script = tmp_path / "pager"
    script.write_text(f"#!/bin/sh\ncat > {kept}\n")
    script.chmod(0o755)
    terminal.setenv("LINES", "10")
    terminal.setenv("COLUMNS", "80")
    terminal.setenv("PAGER", str(script))
    return kept


@pytest.mark.parametrize("verb", ["list", "log", "decisions", "claims", "report"])
def test_what_is_longer_than_the_screen_goes_through_the_pager(verb: str, moot: Moot, pager: Path) -> None:
    place = EXAMPLES if verb == "list" else long_run()
    said = moot(verb, place)
    assert (said.code, said.out) == (0, "")
    assert len(pager.read_text().splitlines()) > 10
    pager.unlink()
    whole = moot(verb, place, "--no-pager")
    assert len(whole.out.splitlines()) > 10
    assert not pager.exists()


def test_a_pager_that_is_none_or_not_there_is_left_out(
    moot: Moot, pager: Path, terminal: pytest.MonkeyPatch
) -> None:
    for none in ("", "cat", "no-such-pager-anywhere"):
        terminal.setenv("PAGER", none)
        assert moot("list", EXAMPLES).out
    terminal.setenv("PAGER", str(pager.with_name("pager")))
    terminal.setenv("LINES", "4000")
    assert moot("list", EXAMPLES).out  # it fits
    assert not pager.exists()
