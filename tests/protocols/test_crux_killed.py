"""A run of `crux` whose process is killed at any step, and host seats in any order: it goes on, to the same answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import moot
from ledger.events import Decision
from ledger.state.book import Book
from moot.app.session import session_at
from rounds.run.reexecution import re_execute
from tests.protocols.crux_seats import World, begin, play, submit

CONTESTED = World(proposed={"action": ("document", 50, 95, 25)}, later=(50, 95, 25))
REPLIES = 21
CHILD = """
import os, signal, sys
from pathlib import Path
from moot.app.session import session_at
from tests.protocols.crux_seats import World, submit
session, left = session_at(Path(sys.argv[1])), int(sys.argv[2])
world = World(proposed={"action": ("document", 50, 95, 25)}, later=(50, 95, 25))
while left:
    submit(session, session.asked()[0], world)
    left -= 1
write = os.fsync
def killed(file):
    os.kill(os.getpid(), signal.SIGKILL)
os.fsync = killed
submit(session, session.asked()[0], world)
"""
"""Answers so many steps, and is killed while it commits the next one: its bytes are there, and not acknowledged."""


def comes_to(book: Book) -> tuple[object, ...]:
    """What a run decided, its beliefs and its looks: nothing that depends on when a reply came."""
    (decision,) = [event for event in book.of(Decision) if event.type == "final"]
    beliefs = {identity: facts.points for identity, facts in sorted(book.state.beliefs.items())}
    looks = [(look.reason, look.pool, look.values) for look in book.state.looks]
    return decision.text, decision.about, decision.cites, beliefs, looks, set(book.state.answered)


def _killed_at(path: Path, replies: int) -> None:
    begin(path, sync=True)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(replies)], env=environment, timeout=120, check=False
    )
    assert child.returncode == -signal.SIGKILL
    session = session_at(path)
    book = play(session, CONTESTED)
    assert comes_to(book) == comes_to(play(begin(path.parent / "whole"), CONTESTED))
    assert [one for one in moot.check(path).findings if one.severity == "error"] == []
    assert re_execute(book, session.protocol, session.controller).identical


@pytest.mark.parametrize("replies", [0, 6, 13, 20])
def test_killed_in_the_middle_of_a_commit_it_goes_on(tmp_path: Path, replies: int) -> None:
    _killed_at(tmp_path / "run", replies)


@pytest.mark.slow
@pytest.mark.parametrize("replies", range(REPLIES))
def test_killed_at_every_step_it_goes_on(tmp_path: Path, replies: int) -> None:
    _killed_at(tmp_path / "run", replies)


@pytest.mark.parametrize("seed", range(3))
def test_seats_answer_in_any_order(tmp_path: Path, seed: int) -> None:
    """Every open step is somebody's who may be first; each reply is handed in by a session of its own."""
    random = Random(seed)
    begin(tmp_path / "run")
    while asked := session_at(tmp_path / "run").asked():
        submit(session_at(tmp_path / "run"), random.choice(asked), CONTESTED)
    book = session_at(tmp_path / "run").book()
    assert comes_to(book) == comes_to(play(begin(tmp_path / "forth"), CONTESTED))
