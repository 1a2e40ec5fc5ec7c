"""The report's sections that look back: each is there when it has something to say, and says what the numbers say."""

from __future__ import annotations

import pytest

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from ledger.format.canonical import BEGINNING, Head, seal
from ledger.interchange.skill_import import read_skill
from ledger.state.book import Book, book
from moot.documents import run_report
from moot.run_view import RunView
from tests.detectors.ledgers import Blobs

AT = "2026-01-01T00:00:00.000000Z"


def _book(setting: Setting) -> Book:
    events = read_skill(Simulation(setting).files(), None).events
    return book(seal(events, prev=BEGINNING.hash, seq=0, at=AT).events, Blobs())


@pytest.fixture(scope="module")
def found() -> str:
    return run_report(RunView(_book(Setting(seed=2, failures={"fm6": 1.0}))), Head(0, "9" * 64), "full")


def _text(found: str, title: str) -> str:
    return found.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_checklist_ticks_what_is_alarmed(found: str) -> None:
    lines = _text(found, "Failure modes").splitlines()
    assert sum(line.startswith(("| [x]", "| [ ]")) for line in lines) == 8
    assert any(line.startswith("| [x] checks without evidence (FM-6)") for line in lines)


def test_contribution_is_insufficient_by_default_and_says_with_what_power(found: str) -> None:
    text = _text(found, "What each role contributed")
    assert text.count("| INSUFFICIENT |") + text.count("| CARRIES |") == 4
    assert "if it carried 25%" in text
    assert "`moot fork --stress`" in text
