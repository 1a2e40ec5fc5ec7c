"""A run of `crux` that waits for a person: what every verb says of it, and that an answer lets it go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rounds.run.session import RunSession
from tests.cli.conftest import Moot
from tests.protocols.crux_seats import HOW, ROLES, World, begin, play

WORLD = World(proposed={"guardian": ("person", 50, 95, 25)}, later=(50, 95, 25), own=90)


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Path]:
    """A run that has handed a question over."""
    HOW["guardian"] = "person"
    play(begin(tmp_path / "run"), WORLD)
    yield tmp_path / "run"
    HOW.clear()


def test_it_says_what_it_waits_for_and_goes_on_with_the_answer(moot: Moot, waiting: Path) -> None:
    status = moot("status", waiting, "--json").json["outcome"]
    assert status["status"] == "waiting"
    (asked,) = status["needs_you"]
    (question,) = asked["ids"]
    assert asked["command"] == f"moot answer {waiting} {question} 'TEXT'"
    assert status["do_now"][0]["refs"] == ["C-1-1"]
    assert status["do_now"][0]["text"] == "Ask or measure: One sees it. (worth 14.5 points of being right)"
    said = moot("next", waiting)
    assert said.code == 4
    assert f"moot answer {waiting} {question} 'TEXT'" in said.out
    assert moot("next", waiting, "--json").json["waiting_for"] == [question]
    resumed = moot("run", "--resume", waiting, "--seats", "host")
    assert resumed.code == 4
    assert "WAITING: for a person's answer" in resumed.out
    assert f"waits for a person: {question}" in resumed.out
    assert moot("answer", waiting, question, "It was seen, twice.").code == 0
    assert [one["step"] for one in moot("next", waiting, "--json").json["steps"]] == [
        f"r2.F.{role}" for role in ROLES
    ]
    play(begin_again(waiting), WORLD)
    outcome = moot("status", waiting, "--json").json["outcome"]
    assert outcome["status"] == "decided"
    assert outcome["needs_you"] == []
    assert moot("check", waiting, "--quiet").code == 0


def begin_again(path: Path) -> RunSession:
    """A session on the run as it stands."""
    from moot.app.session import session_at

    return session_at(path)
