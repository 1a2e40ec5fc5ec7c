"""The long scripted run and its fork: whole, lawful, executed again to the same head, and rich in what tests need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import moot
from ledger.audit.verify import verify
from ledger.events import Alarm, Decision
from ledger.store.store import RunStore
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.long_run import FORK, NAME, clock, long_fork, long_run, make
from tests.slowly import mostly_slow


@pytest.mark.parametrize("run_of", mostly_slow([long_run, long_fork], quick=1))
def test_it_is_intact_lawful_and_executed_again_to_the_same_head(run_of: Callable[[], Path]) -> None:
    path = run_of()
    assert verify(path).ok
    assert moot.check(path).ok
    session = RunSession(RunStore(path), standard, clock())
    again = re_execute(session.book(), session.protocol, session.controller)
    assert (again.divergences, again.identical, again.as_given) == ((), True, 0)


@pytest.mark.slow  # both runs are made once more
def test_its_bytes_depend_on_the_source_alone(tmp_path: Path) -> None:
    make(tmp_path)
    for made, kept in ((tmp_path / NAME, long_run()), (tmp_path / FORK, long_fork())):
        files = {str(file.relative_to(kept)): file for file in kept.rglob("*") if file.is_file()}
        assert files
        for name, file in files.items():
            if file.name not in ("lock", "driver"):
                assert (made / name).read_bytes() == file.read_bytes(), name


def test_the_run_holds_what_a_long_deliberation_brings() -> None:
    book = moot.open_run(long_run()).book
    state = book.state
    assert state.finished
    assert len(state.rounds) == 13
    assert {opened.absent for opened in state.rounds.values()} == {
        None,
        *("action", "guardian", "observer", "critic"),
    }
    assert set(state.drift) == {5, 10}
    assert {claim.status for claim in state.claims.values()} == {
        "tested_confirmed", "tested_refuted", "partially_refuted", "tested_unclear", "superseded",
    }  # fmt: skip
    assert any(len(claim.moves) > 2 for claim in state.claims.values())
    decisions = [event.type for event in book.of(Decision)]
    assert (decisions.count("final"), decisions.count("answer")) == (2, 2)
    assert [alarm.fm for alarm in state.open_alarms()] == ["FM-9"]
    assert [alarm.fm for alarm in book.of(Alarm) if alarm.by == "human"] == ["FM-5"]
    assert {event.call.simulated for event in book.events if event.call} == {"fake"}


def test_the_fork_shares_six_rounds_and_is_open_in_round_nine() -> None:
    parent, fork = moot.open_run(long_run()).book, moot.open_run(long_fork()).book
    origin = fork.state.opening.origin
    assert (origin.type, origin.of) == ("fork", NAME)
    assert origin.seq is not None
    shared = fork.events[: origin.seq + 1]
    assert shared == parent.events[: origin.seq + 1]
    assert max(event.round for event in shared) == 6
    assert {round_ for round_, opened in fork.state.rounds.items() if opened.absent == "critic"} == {5, 7}
    assert not fork.state.finished
    pending = [claim.round for claim in fork.state.claims.values() if claim.status == "pending"]
    assert 9 in pending
