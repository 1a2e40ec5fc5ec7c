"""Forks played by script: what they lose, which ones are planned, and that little is said of few.

Of `rounds/run/forking.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.state.book import Book
from ledger.store.store import RunStore
from rounds.analysis.stress import (
    Counted,
    ForkLosses,
    changed_rounds,
    is_fork_of,
    lost,
    missing,
    planned_forks,
    role_losses,
)
from rounds.run.forking import Wish, fork
from tests.rounds.openings import begin, clock, play, rows

pytestmark = pytest.mark.slow

NEITHER = (False, False)


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stress") / "parent"
    assert play(begin(path, rows(3, absent={2: "critic"}))).state == "finished"
    return path


def _fork(parent: Path, wish: Wish, name: str) -> Book:
    path = parent.with_name(name)
    session = fork(RunStore(parent), path, wish, name="parent", moot="0.1.0", clock=clock())
    assert play(session).state == "finished"
    return RunStore(path).book()


def test_planned_are_rounds_in_which_nobody_was_absent(parent: Path) -> None:
    planned = planned_forks(RunStore(parent).book().state, 2)
    assert {one.round for one in planned} == {3}
    assert [one.role for one in planned] == ["action", "guardian", "observer", "critic"]
    assert missing(planned, [("critic", (3,)), (None, (1, 2, 3))]) == planned[:3]


def test_a_fork_without_a_role_has_lost_what_that_role_raised(parent: Path) -> None:
    book, old = _fork(parent, Wish(3, without="guardian"), "without"), RunStore(parent).book()
    assert is_fork_of(book.state, old)
    assert changed_rounds(book.state, old.state) == ("guardian", (3,))
    found = lost("without", book, old, ready=NEITHER)
    raised = [
        claim
        for claim, facts in old.state.claims.items()
        if facts.round == 3 and facts.raised_by == "guardian"
    ]
    assert found.rounds == [3]
    assert raised
    assert set(found.own) <= set(found.lost)
    assert set(found.own) == set(raised)
    assert found.parent.claims - found.fork.claims >= len(raised)
    losses = {one.role: one for one in role_losses(("guardian", "critic"), [found])}
    assert (losses["guardian"].forks, losses["guardian"].rounds) == (1, 1)
    assert losses["guardian"].verdict == "INSUFFICIENT"
    assert losses["critic"].p_value is None


def test_a_fork_in_which_nothing_changed_loses_nothing(parent: Path) -> None:
    book, old = _fork(parent, Wish(2), "again"), RunStore(parent).book()
    assert changed_rounds(book.state, old.state) == (None, (2, 3))
    found = lost("again", book, old, ready=NEITHER)
    assert (found.without, found.rounds, found.lost, found.new) == (None, [2, 3], [], [])
    assert found.parent == found.fork


def test_a_stranger_is_no_fork(parent: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    play(begin(other, rows(1)))
    assert not is_fork_of(RunStore(other).book().state, RunStore(parent).book())
    made = fork(RunStore(other), tmp_path / "fork", Wish(1), name="other", moot="0.1.0", clock=clock())
    assert is_fork_of(made.book().state, RunStore(other).book())
    assert (
        not is_fork_of(made.book().state, RunStore(parent).book())
        or RunStore(other).events()[0] == RunStore(parent).events()[0]
    )


def test_many_forks_say_something() -> None:
    def one(number: int, after: int) -> ForkLosses:
        zero = {"tested": 0, "broken": 0, "disagreement": 0, "tensions": 0, "decisions": 0}
        return ForkLosses(
            run=f"f{number}",
            without="critic",
            rounds=[number],
            parent=Counted(claims=8, **zero),
            fork=Counted(claims=after, **zero),
            lost=[],
            own=[],
            again=0,
            new=[],
            ready_parent=False,
            ready_fork=False,
        )

    (few,) = role_losses(("critic",), [one(1, 4)])
    (many,) = role_losses(("critic",), [one(n, 4) for n in range(1, 6)])
    (same,) = role_losses(("critic",), [one(n, 8) for n in range(1, 30)])
    assert (few.verdict, many.verdict, same.verdict) == ("INSUFFICIENT", "CARRIES", "NO_DROP")
