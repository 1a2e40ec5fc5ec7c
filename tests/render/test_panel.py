"""The stop panel: what decides in twenty lines, and the whole with inputs, what is open and what comes next."""

from __future__ import annotations

from pathlib import Path

import pytest

from detectors.signals import signals_of_state
from ledger.events import Concern, Signals
from ledger.state.book import Book
from moot.api import open_run, signals as signals_now
from moot.terminal.panel import panel, whole_panel
from moot.view.stop_checks import next_round, worded
from tests.detectors.test_readiness import waiting
from tests.recorded import LONG, RUNS, protocol_of, run_of
from tests.render.golden import agrees
from tests.render.sample import sample_book
from tests.render.screens import shown


def panel_text(book: Book, width: int) -> str:
    report = worded(signals_of_state(book.state, "published", run="runs/sample"), book.state)
    return shown(whole_panel(book, report), width)


WATCHED = [*LONG, *(run.name for run in RUNS if protocol_of(run) == "structured")]


@pytest.mark.parametrize("name", WATCHED)
def test_what_decides_fits_twenty_lines_of_eighty_columns(name: str) -> None:
    ours = open_run(run_of(name))
    ends = [event.seq for event in ours.events if isinstance(event, Signals)]
    for at in (0, *ends, None):
        report = signals_now(ours, at=at)
        text = shown(panel(ours.book if at is None else ours.book.first(at + 1), report), 80)
        lines = text.rstrip("\n").split("\n")
        assert len(lines) <= 20
        assert max(map(len, lines)) <= 80
        assert lines[0].startswith(("STOP: ", "WAIT: ", "GO ON: ", "ENDED, "))
        if report.profile == "gates":
            assert sum(line.startswith(("✓ ", "✗ ")) for line in lines) == 8


def test_the_headline_says_what_to_do(tmp_path: Path) -> None:
    waiting(tmp_path / "run")
    ours = open_run(tmp_path / "run")
    looks = [event.seq for event in ours.events if isinstance(event, Signals)]
    question = next(event.id for event in ours.events if isinstance(event, Concern) and event.deciding)
    assert [signals_now(ours, at=at).headline for at in looks] == [
        "GO ON: next round is about what is missing without the critic",
        "GO ON: next round is about what the open questions leave undecided",
        f"WAIT: answer {question} first",
    ]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("events", [23, 37, 44])
def test_panel(events: int, width: int) -> None:
    agrees("render", f"panel-{events}-{width}", panel_text(sample_book(events), width))


def test_degraded_and_alarm_come_before_the_first_verdict() -> None:
    text = panel_text(sample_book(), 120)
    assert text.lstrip().startswith("DEGRADED")
    assert text.index("DEGRADED") < text.index("ALARM") < text.index("signals hold")


def test_a_decision_whose_claim_fell_later_is_at_risk() -> None:
    before, after = panel_text(sample_book(23), 120), panel_text(sample_book(37), 120)
    assert "AT RISK" not in before
    assert "▲ AT RISK (C-1-1 fell) D-1-1" in after


def test_every_signal_shows_what_it_was_held_against() -> None:
    text = panel_text(sample_book(), 120)
    assert all(f"S{n} " in text for n in range(1, 7))
    assert text.count(" against ") + text.count("no value yet") == 6


def test_what_comes_next_is_read_from_the_plan() -> None:
    assert next_round(sample_book(1).state) == ["R1, lead action"]
    after_one = next_round(sample_book(23).state)
    assert after_one == [
        "R2, lead guardian; stress: what is missing without critic; a drift check against the goals;"
        " a look at the signals at its end"
    ]
    assert next_round(sample_book(20).state)[0] == "R1 is under way (phase G)"
    assert "synthesis" in next_round(sample_book(37).state)[0]
    assert next_round(sample_book().state) == ["nothing: the run is finished"]


def test_the_panel_of_a_hostile_ledger_has_no_escape_codes() -> None:
    text = panel_text(sample_book(hostile="\x1b[2J\u202e\r"), 80)
    assert not {"\x1b", "\u202e", "\r"} & set(text)
