"""A run says with the round in which its plan lost what readiness needs that it cannot become ready any more."""

from __future__ import annotations

import io
import time
from typing import Any

import pytest
from rich.console import Console

from ledger.events import RoundOpened
from ledger.state.book import Book
from moot.terminal.live import LiveView, PlainView
from moot.view.stop_checks import out_of_reach
from tests.rounds.openings import begin, play, rows
from tests.rounds.scripted import Script

SAID = "this plan cannot become ready: no drift check is planned"


class Failing(Script):
    """The drift check of the plan fails, and no other is planned."""

    def _make(self, book: Book, step: Any, *rest: Any) -> dict[str, Any]:
        made = super()._make(book, step, *rest)
        return {**made, "verdict": "FAIL"} if step.task == "H" else made


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> list[Book]:
    """The run as it stood after each round was opened, and at its end."""
    session = begin(
        tmp_path_factory.mktemp("run") / "run",
        rows(5, absent={3: "critic"}, drift=(2,)),
        positions="beliefs",
        profile="gates",
    )
    play(session, Failing())
    whole = session.book()
    ends = [event.seq for event in whole.events if isinstance(event, RoundOpened)] + [whole.events[-1].seq]
    return [whole.first(end + 1) for end in ends]


def test_it_is_said_from_the_round_on_in_which_it_became_so(books: list[Book]) -> None:
    assert [out_of_reach(book) for book in books] == ["", "", SAID, "", "", ""]  # a look follows R3


@pytest.mark.parametrize("live", [False, True])
def test_who_watches_is_told(books: list[Book], live: bool) -> None:
    told = io.StringIO()
    console = Console(file=told, width=200, force_terminal=live)
    now = [0]

    def read() -> Book:
        return books[now[0]]

    with LiveView(read, console, time.monotonic, ()) if live else PlainView(read, console, ()) as watching:
        for n in range(3):
            now[0] = n
            assert SAID not in told.getvalue()
            watching.committed()
        assert told.getvalue().count(SAID) == 1
