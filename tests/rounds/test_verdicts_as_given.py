"""Verdicts of other rules or thresholds are taken as given: counted, never recomputed, and no recorded run breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

import moot
from detectors import parameters
from ledger.events import Alarm, Signals, Validation
from ledger.store.store import RunStore
from rounds.protocols import is_watched
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.long_run import long_run
from tests.recorded import LONG, RUNS, recorded_names, run_of
from tests.rounds.openings import begin, clock, play
from validators import rulebook

WATCHED = [*LONG, *(run.name for run in RUNS if is_watched(RunStore(run).state().opening))]


@pytest.fixture
def other_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed gates with another number: other thresholds, and so another hash."""
    long_run()  # made by the installed ones
    content = parameters.params_bytes("gates")
    changed = content.replace(b"margin_at_least = 10", b"margin_at_least = 60")
    assert changed != content
    real = parameters.params_bytes

    def bytes_of(profile: str) -> bytes:
        return changed if profile == "gates" else real(profile)

    monkeypatch.setattr("detectors.parameters.params_bytes", bytes_of)


@pytest.mark.usefixtures("other_threshold")
@pytest.mark.parametrize("name", recorded_names(WATCHED))
def test_another_threshold_breaks_no_recorded_run(name: str) -> None:
    path = run_of(name)
    session = RunSession(RunStore(path), standard, clock())
    again = re_execute(session.book(), session.protocol, session.controller)
    assert again.divergences == ()
    assert again.identical
    report = moot.check(path)
    assert [one for one in report.findings if one.severity == "error"] == []
    assert report.as_given == again.as_given
    looks = [event for event in session.book().events if isinstance(event, Signals | Alarm)]
    own = name in LONG  # it keeps its parameter file, and is recomputed by it
    assert again.as_given >= (0 if own else len([event for event in looks if event.by == "controller"]))


def test_a_run_of_today_is_recomputed_to_the_last_verdict(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "short-5", profile="gates", positions="beliefs")
    play(session)
    again = re_execute(session.book(), session.protocol, session.controller)
    assert (again.identical, again.as_given) == (True, 0)
    assert moot.check(tmp_path / "run").as_given == 0


def test_its_own_look_is_judged_by_the_thresholds_that_it_keeps(tmp_path: Path) -> None:
    """A run with a parameter file of its own is recomputed by it, whatever is installed."""
    own = parameters.params_bytes("gates").replace(b"points_lost_at_most = 10", b"points_lost_at_most = 7")
    session = begin(tmp_path / "run", "short-5", params=own, positions="beliefs")
    play(session)
    assert re_execute(session.book(), session.protocol, session.controller).as_given == 0


def test_validations_by_other_rules_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    path = long_run()
    monkeypatch.setattr(rulebook, "rules_hash", lambda: "0" * 64)
    validations = sum(isinstance(event, Validation) for event in RunStore(path).events())
    report = moot.check(path)
    assert report.ok
    assert report.as_given >= validations
