"""The report's sections that look back: each is there when it has something to say, and says what the numbers say."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.calibrated.agreement import Agreement
from ledger.format.chain import BEGINNING, seal
from ledger.interchange.skill_import import read_skill
from ledger.state.book import Book, book
from moot.view.hindsight import Hindsight, hindsight
from moot.view.report_hindsight import hindsight_sections
from tests.detectors.ledgers import Blobs

AT = "2026-01-01T00:00:00.000000Z"


def _book(setting: Setting) -> Book:
    events = read_skill(Simulation(setting).files(), None).events
    return book(seal(events, prev=BEGINNING.hash, seq=0, at=AT).events, Blobs())


@pytest.fixture(scope="module")
def found() -> Hindsight:
    return hindsight(_book(Setting(seed=2, failures={"fm6": 1.0})))


def _text(found: Hindsight, title: str) -> str:
    return "\n".join(dict(hindsight_sections(found)).get(title, []))


def test_the_checklist_ticks_what_is_alarmed(found: Hindsight) -> None:
    lines = _text(found, "Failure modes").splitlines()
    assert sum(line.startswith(("| [x]", "| [ ]")) for line in lines) == 9
    assert any(line.startswith("| [x] checks without evidence (FM-6)") for line in lines)


def test_contribution_is_insufficient_by_default_and_says_with_what_power(found: Hindsight) -> None:
    text = _text(found, "What each role contributed")
    assert text.count("| INSUFFICIENT |") + text.count("| CARRIES |") == 4
    assert "if it carried 25%" in text
    assert "`moot stress`" in text


@pytest.mark.parametrize(
    ("alpha", "low", "warned", "unreliable", "word"),
    [
        (0.95, 0.85, False, False, "reliable enough"),
        (0.75, 0.7, True, False, "with care"),
        (0.7, 0.4, True, True, "unreliable"),
        (None, None, False, False, "Too few"),
    ],
)
def test_verdicts_given_twice_are_read(
    found: Hindsight, alpha: float | None, low: float | None, warned: bool, unreliable: bool, word: str
) -> None:
    assert _text(found, "Verdicts given twice") == ""
    twice = Agreement(
        repeats=12,
        needed=10,
        flips=2,
        flips_at_most=0.4,
        alpha=alpha,
        low=low,
        high=None if alpha is None else 1.0,
        warned=warned,
        unreliable=unreliable,
    )
    assert word in _text(msgspec.structs.replace(found, twice=twice), "Verdicts given twice")
    assert msgspec.json.encode(twice)
