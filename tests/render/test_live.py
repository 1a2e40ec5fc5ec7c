"""The live view: a column a seat or a line a seat, boxes that open with the verdict, plain lines without a terminal."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from ledger.state.book import Book, book
from moot.terminal.live import LiveView, PlainView, round_block, view_of
from moot.terminal.stage import Stage
from moot.view.labels import Label
from moot.view.marks import ADVICE, ALARMS, DRIFT, RESULTS, SEEN, STATUSES
from moot.view.round import tell_round
from moot.view.story import clock_time, scene_of
from tests.render.golden import agrees
from tests.render.sample import Blobs, sample, sample_book
from tests.render.screens import pipe, screen, shown, written

SEALED, JUDGED, STRESS, LOOKED = 14, 18, 29, 37
"""Events after which the sample is looked at: positions sealed, verdicts in, a stress round, after the signals."""
RECORDED = (Label("RECORDED", "played again"),)


def stage(events: int, width: int, height: int = 60, **asked: float) -> str:
    steps = {step.replace("_", "."): since for step, since in asked.items()}
    scene = scene_of(sample_book(events), steps, 100.0, RECORDED)
    return shown(Stage(scene, height), width, height)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("events", [SEALED, JUDGED, STRESS])
def test_stage(events: int, width: int) -> None:
    agrees(
        "render",
        f"stage-{events}-{width}",
        stage(events, width, r1_E_check1_verifier=58.0, r2_E_check2_verifier=39.5),
    )


def test_wide_has_a_column_a_seat_and_narrow_a_line_a_seat() -> None:
    heads = [line for line in stage(JUDGED, 120).splitlines() if "guardian" in line and "critic" in line]
    assert any("action ★ lead" in line and "verifier" in line for line in heads)
    lines = [line.split()[0] for line in stage(JUDGED, 80).splitlines() if line.strip()]
    assert [word for word in lines if word in ("guardian", "observer", "critic", "verifier")] == [
        "guardian",
        "observer",
        "critic",
        "verifier",
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_a_sealed_position_is_a_closed_box_until_its_verdict(width: int) -> None:
    before, after = stage(SEALED, width), stage(JUDGED, width)
    assert before.count("1▣") == 3
    assert "1✓" not in before
    assert "▣ " not in after.replace("▣ sealed", "")
    assert "1✓≠" in after
    assert "1✗ " in after


def test_who_thinks_since_when() -> None:
    assert "… check1 0:42" in stage(SEALED, 120, r1_E_check1_verifier=58.0)
    assert "thinking" not in stage(SEALED, 120)
    assert [clock_time(seconds) for seconds in (0, 59.9, 61, 3661)] == ["0:00", "0:59", "1:01", "1:01:01"]


@pytest.mark.parametrize("height", [8, 12, 16, 24])
@pytest.mark.parametrize("width", [80, 130])
def test_the_stage_keeps_to_its_height(width: int, height: int) -> None:
    assert len(stage(LOOKED, width, height).splitlines()) <= height


@pytest.mark.parametrize("round_", [1, 2, 3])
@pytest.mark.parametrize("width", [80, 120])
def test_round_block(round_: int, width: int) -> None:
    agrees(
        "render", f"round-{round_}-{width}", shown(round_block(tell_round(sample_book(), round_), 3), width)
    )


def growing(scribe_events: int = 44) -> tuple[list[int], Callable[[], Book]]:
    """A run that grows: how many events are there, and a reader."""
    events = sample().events[:scribe_events]
    there = [1]
    return there, lambda: book(events[: there[0]], Blobs())


def test_the_live_view_tells_every_round_once_and_leaves_the_terminal_clean() -> None:
    console = screen(100, 30)
    there, read = growing()
    with LiveView(read, console, lambda: 0.0, RECORDED) as view:
        for count in range(2, 45):
            there[0] = count
            view.started("r1.B.action")
            view.committed()
        view.lost("r1.B.action")
    text = plain(written(console))
    assert [len(re.findall(rf"R{n} of 3 [^\n]*──", text)) for n in (1, 2, 3)] == [1, 1, 1]
    assert text.startswith(" RECORDED  played again")
    assert "\x1b[?25h" in written(console).rpartition("\x1b[?25l")[2]  # the cursor is back


def test_a_resumed_run_does_not_tell_old_rounds_again() -> None:
    console = screen(100, 30)
    events = sample().events[:30]
    with LiveView(lambda: book(events, Blobs()), console, time.monotonic, ()):
        pass
    assert not re.search(r"R1 of 3 [^\n]*──", plain(written(console)))


def test_plain_lines() -> None:
    console = pipe()
    there, read = growing()
    with PlainView(read, console, RECORDED) as view:
        for count in range(2, 45):
            there[0] = count
            view.started("r1.B.action")
            view.committed()
    agrees("render", "lines", written(console))


def test_plain_lines_are_one_line_each_and_have_no_escape_codes() -> None:
    console = pipe()
    text = "\x1b[31m\n# forged\r\u202e"
    with PlainView(lambda: sample_book(hostile=text), console, ()):
        pass
    lines = written(console).splitlines()
    assert all(re.match(r"(R\d+ \w+ +\S|goes on)", line) for line in lines), lines[:3]
    assert "\x1b" not in written(console)


def test_a_sealed_stance_is_in_no_plain_line_before_its_verdict() -> None:
    console = pipe()
    whole = sample_book(SEALED)
    books = [whole.first(1), whole.first(1), whole]
    with PlainView(lambda: books.pop(0) if len(books) > 1 else books[0], console, ()):
        pass
    assert "▣▣ guardian on V-1-1, V-1-2" in written(console)
    assert not re.search(r"guardian.*(BROKEN|ROBUST|UNCLEAR)", written(console))


def test_which_view() -> None:
    def read() -> Book:
        return sample_book()

    assert isinstance(view_of(read, screen(100)), LiveView)
    assert isinstance(view_of(read, screen(100), live=False), PlainView)
    assert isinstance(view_of(read, pipe()), PlainView)


@pytest.mark.parametrize("table", [RESULTS, STATUSES, DRIFT, ADVICE, ALARMS, SEEN])
def test_every_colour_has_a_shape_and_a_word_of_its_own(table: dict[str, object]) -> None:
    marks = list(table.values())
    assert len({mark.shape for mark in marks}) == len(marks)  # type: ignore[attr-defined]
    assert len({mark.word for mark in marks}) == len(marks)  # type: ignore[attr-defined]


def test_no_colour_is_respected() -> None:
    for colour in (True, False):
        console = screen(120, colour=colour)
        console.print(Stage(scene_of(sample_book(JUDGED), {}, None), 40))
        codes = re.findall(r"\x1b\[[0-9;]*m", written(console))
        assert any("31" in code or "38" in code for code in codes) == colour


@pytest.mark.parametrize("width", [80, 120])
def test_no_terminal_code_of_a_ledger_reaches_the_terminal(width: int) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\u202e\u200b[bold red]not markup[/]"
    events = sample(hostile=hostile).events
    console = screen(width, colour=True)
    for count in (SEALED, JUDGED, STRESS, LOOKED):
        console.print(Stage(scene_of(book(events[:count], Blobs()), {}, 0.0), 60))
    for round_ in (1, 2, 3):
        console.print(round_block(tell_round(book(events, Blobs()), round_), 3))
    text = written(console)
    assert "owned" in text
    assert not re.search(r"\x1b(?!\[[0-9;]*m)", text)
    assert "\x1b[2J" not in text
    assert not {"\u202e", "\u200b", "\x07"} & set(text)
    assert "[bold red]not markup[/]" in " ".join(plain(text).split())


def plain(text: str) -> str:
    """Text without terminal codes."""
    return re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", text)


@pytest.mark.parametrize("width", [60, 130])
def test_every_instant_of_a_run_can_be_shown(width: int) -> None:
    events = sample().events
    for count in range(1, len(events) + 1):
        now = book(events[:count], Blobs())
        assert (
            len(shown(Stage(scene_of(now, {"r1.E.position.critic": 0.0}, 1.0), 24), width).splitlines()) <= 24
        )
