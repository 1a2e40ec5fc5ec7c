"""`crux` through the engine in simulated worlds: each ends as by the pure functions, and whatever reply is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

import moot
from rounds.run.outcome import outcome_of
from rounds.run.reexecution import re_execute
from tests.detectors.beliefs import worlds
from tests.protocols.world_seats import NOTHING_RUNS, play

ENDS = {"short", "settled", "hand_over", "values", "cap"}


def _ends_well(path: Path, seed: int) -> None:
    session, played = play(path, seed)
    assert played.reason in ENDS
    assert played.replies <= 40
    by_functions = worlds.play(seed, NOTHING_RUNS)
    assert (played.mean, played.right) == (by_functions.mean, by_functions.rule)
    assert played.reason == by_functions.reason
    assert abs(played.replies - by_functions.replies) <= 1  # who plans may fall to one role more or less
    state = session.book().state
    assert outcome_of(state).kind == "whole"
    assert [facts.type for facts in state.decisions.values()] == ["final"]
    assert [one for one in moot.check(path).findings if one.severity == "error"] == []
    assert re_execute(session.book(), session.protocol, session.controller).identical


@pytest.mark.parametrize("seed", range(4))
def test_a_world_ends_with_a_decision_and_runs_again_to_the_same_head(tmp_path: Path, seed: int) -> None:
    _ends_well(tmp_path / "run", seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 200))
def test_two_hundred_worlds(tmp_path: Path, seed: int) -> None:
    _ends_well(tmp_path / "run", seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_each_lost_reply_of_a_world_ends_decided_with_its_quorum(tmp_path: Path, seed: int) -> None:
    session, _ = play(tmp_path / "whole", seed)
    for n, step in enumerate(session.book().state.answered):
        lost, played = play(tmp_path / str(n), seed, lose=(step,))
        assert played.reason in ENDS, step
        found = outcome_of(lost.book().state)
        assert (found.kind, found.declared - found.actual) == ("degraded", 1), step
