"""Every protocol has its pages: a column a seat, those who judge on their bench, whatever kinds of event it writes."""

from __future__ import annotations

import re
from collections.abc import Generator

import pytest

from rounds.protocols import PROTOCOLS
from tests.protocols.playing import begin, play
from tests.web.live_run import aside
from tests.web.viewer import Viewer, viewer

NAMES = tuple(name for name in PROTOCOLS if name != "structured")
COLUMNS = {"tribunal": (3, 0), "debate": (2, 1), "jugalbandi": (2, 1), "adversarial": (2, 1)}
"""Seats that argue, and seats that judge them."""
TABS = ("", "/live", "/rounds/1", "/claims", "/decisions", "/signals", "/seats", "/log", "/check", "/report")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Generator[Viewer]:
    folder = tmp_path_factory.mktemp("protocols")
    for name in NAMES:
        aside(lambda name=name: play(begin(folder / name, name)))  # type: ignore[misc]
    with viewer(folder) as answering:
        yield answering


@pytest.mark.parametrize("name", NAMES)
def test_its_pages_are_there(serving: Viewer, name: str) -> None:
    for tab in TABS:
        answer = serving.get(f"/run/{name}{tab}")
        assert answer.status == 200, tab
    overview = serving.get(f"/run/{name}").body
    assert "why it stopped" in overview
    assert "Nothing was decided" not in overview


@pytest.mark.parametrize("name", [name for name in COLUMNS if name in NAMES])
def test_a_column_a_seat(serving: Viewer, name: str) -> None:
    page = serving.get(f"/run/{name}/live").body
    found = len(re.findall(r'id="live-seat-\d', page)), len(re.findall(r'id="live-bench-\d', page))
    assert found == COLUMNS[name]


@pytest.mark.slow
def test_a_challenge_and_an_agreement_differ_by_shape_and_word_and_colour(serving: Viewer) -> None:
    page = serving.get("/run/debate/rounds/1").body
    card = r'<article class="act tone-%s kind-challenge.*?class="mark (\w+)"><span[^>]*>(.)</span>&nbsp;(\w+)'
    against, agrees = re.search(card % "bad", page, re.DOTALL), re.search(card % "good", page, re.DOTALL)
    assert against is not None
    assert agrees is not None
    assert against.groups() == ("bad", "▲", "against")
    assert agrees.groups() == ("good", "✓", "agrees")
