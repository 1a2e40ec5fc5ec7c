"""`moot rm`: a run goes from the disk, and nothing else does."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.store.lock import DriverLease
from moot.cli import integrity as verb
from tests.cli.conftest import Moot


@pytest.fixture
def over(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "over")


def answering(monkeypatch: pytest.MonkeyPatch, *, answer: bool) -> list[str]:
    """A person at the terminal who gives this answer; what they were asked."""
    questions: list[str] = []

    def confirmation(*, silent: bool) -> Callable[[str, str], bool]:
        assert not silent

        def agreed(text: str, question: str) -> bool:
            questions.append(text + question)
            return answer

        return agreed

    monkeypatch.setattr(verb, "confirmation", confirmation)
    return questions


def test_it_asks_on_a_terminal(moot: Moot, over: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, answer=False)
    said = moot("rm", over)
    assert (said.code, "nothing was removed" in said.err) == (2, True)
    assert str(over) in asked[0]
    assert (over / "head").is_file()
    answering(monkeypatch, answer=True)
    assert moot("rm", over).code == 0
    assert not over.exists()


def test_without_a_terminal_it_needs_a_yes(moot: Moot, over: Path) -> None:
    assert moot("rm", over).code == 2
    assert moot("rm", over, "--json").json["error"]["code"] == "not_agreed"
    gone = moot("rm", over, "--yes", "--json")
    assert gone.code == 0
    assert gone.json["run"] == str(over)
    assert {"head", "claims.jsonl"} <= set(gone.json["removed"])
    assert not over.exists()
    assert moot("rm", over, "--yes").code == 2


def test_a_run_that_waits_or_is_written_needs_a_yes(
    moot: Moot, opened: Path, over: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, answer=True)
    waiting = moot("rm", opened)
    assert (waiting.code, "it waits" in waiting.err) == (2, True)
    with DriverLease(over):
        busy = moot("rm", over)
        assert (busy.code, "a process is writing it" in busy.err) == (2, True)
    assert moot("rm", opened, "--yes").code == moot("rm", over, "--yes").code == 0
    assert not opened.exists()


def test_what_is_no_run_stays(moot: Moot, over: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "notes.md").write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(over)
    (over / "notes.md").write_text("mine")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "head").write_text("{}")
    for place in (plain, link, over, tmp_path / "half", tmp_path / "plain" / "notes.md", tmp_path):
        said = moot("rm", place, "--yes")
        assert said.code == 2, place
        assert said.err.count("\n") == 1
    assert (plain / "notes.md").read_text() == (over / "notes.md").read_text() == "mine"
    assert (over / "head").is_file()


def test_links_in_a_run_are_not_followed(moot: Moot, over: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("mine")
    (over / "quarantine").symlink_to(outside)
    (over / "checkpoints").mkdir()
    (over / "checkpoints" / "away").symlink_to(outside)
    assert moot("rm", over, "--yes").code == 0
    assert (outside / "kept.txt").read_text() == "mine"
    assert not over.exists()


def test_a_removal_that_was_interrupted_can_be_done_again(
    moot: Moot, over: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (over / "quarantine").mkdir()
    real = shutil.rmtree

    def interrupted(place: str) -> None:
        raise KeyboardInterrupt(place)

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    assert moot("rm", over, "--yes").code == 4
    assert (over / "head").is_file()
    monkeypatch.setattr(shutil, "rmtree", real)
    assert moot("rm", over, "--yes").code == 0
    assert not over.exists()


def test_a_damaged_run_can_be_removed(moot: Moot, over: Path) -> None:
    (over / "claims.jsonl").write_bytes(b"~")
    assert moot("rm", over).code == 2
    assert moot("rm", over, "--yes").code == 0
