"""Experiments of a run, from the plan to what it does to a claim; run, cut short, run again, and the same again."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from msgspec import structs

from ledger.audit.verify import verify
from ledger.events import Amendment, Event, ExperimentJudged, ExperimentRun
from ledger.events.experiments import Predicate
from ledger.state.experiments import OutputMissing, Slot, judgement, next_slot, plan_of
from ledger.state.fold import fold
from ledger.state.state import State
from ledger.store.store import RunStore
from rounds.protocols import PROTOCOLS
from rounds.run.controller import Controller
from rounds.run.experiments import conduct
from rounds.run.human_actions import allow_experiment, amend_experiments
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.blob_lines import lose
from tests.protocols.crux_seats import submit
from tests.rounds.experimenting import BENCH, CLAIM, WORLD, planned, with_claims
from tests.rounds.openings import clock
from tests.validators.factory import findings

CRUX = PROTOCOLS["crux"]


def same_again(session: RunSession) -> bool:
    book = session.book()
    return re_execute(book, CRUX, Controller(CRUX, standard(CRUX))).identical


def errors(session: RunSession) -> list[str]:
    found = findings(session.book(), standard(CRUX).context())
    return [f"{one.code} {one.message}" for one in found if one.severity == "error"]


def slots(session: RunSession) -> list[tuple[str | None, int]]:
    return [(event.control, event.n) for event in session.book().of(ExperimentRun)]


ALL = [("must_fail", 1), ("must_hold", 1), (None, 1), (None, 2), (None, 3)]


def test_a_series_is_run_judged_and_moves_its_claim(tmp_path: Path) -> None:
    session = with_claims(tmp_path / "run")
    experiment = planned(session)
    allow_experiment(session, experiment)
    commits = list(conduct(session, BENCH, experiment))
    assert [[event.kind for event in commit] for commit in commits] == [["experiment_run"]] * 5 + [
        ["experiment_judged"]
    ]
    assert slots(session) == ALL
    (judged,) = session.book().of(ExperimentJudged)
    assert (judged.verdict, judged.class_) == ("holds", "reproduced")
    assert [(one.claim_id, one.from_, one.to) for one in judged.changes] == [
        (CLAIM, "pending", "tested_confirmed")
    ]
    assert session.book().state.claims[CLAIM].status == "tested_confirmed"
    assert errors(session) == []
    assert same_again(session)
    assert verify(tmp_path / "run").ok


@pytest.mark.parametrize("after", range(7))
def test_what_was_cut_short_goes_on_and_nothing_counts_twice(tmp_path: Path, after: int) -> None:
    session = with_claims(tmp_path / "run")
    experiment = planned(session)
    allow_experiment(session, experiment)
    list(islice(conduct(session, BENCH, experiment), after))
    again = RunSession(RunStore(tmp_path / "run"), standard, clock())
    list(conduct(again, BENCH, experiment))
    assert slots(again) == ALL
    assert len(again.book().of(ExperimentJudged)) == 1
    assert errors(again) == []
    assert same_again(again)


def test_two_who_run_the_same_series_make_one(tmp_path: Path) -> None:
    session = with_claims(tmp_path / "run")
    experiment = planned(session)
    allow_experiment(session, experiment)
    other = RunSession(RunStore(tmp_path / "run"), standard, clock())
    one, two = conduct(session, BENCH, experiment), conduct(other, BENCH, experiment)
    ended = [False, False]
    while not all(ended):
        for place, each in enumerate((one, two)):
            ended[place] = ended[place] or next(each, None) is None
    assert max(Counter(slots(session)).values()) == 1
    assert len(session.book().of(ExperimentJudged)) == 1
    assert same_again(session)


def test_a_reply_may_come_between_two_runs(tmp_path: Path) -> None:
    """No lock is held while a program runs: seats go on answering."""
    session = with_claims(tmp_path / "run")
    experiment = planned(session)
    allow_experiment(session, experiment)
    running = conduct(session, BENCH, experiment)
    next(running)
    submit(session, session.pending()[0], WORLD)
    list(running)
    assert slots(session) == ALL
    assert errors(session) == []
    assert same_again(session)


@pytest.mark.parametrize(
    "program",
    [
        "import sys; sys.exit(0)",
        "import sys; sys.exit(1)",
        "import sys; sys.exit(2)",
        "no python",
        "import os; os.kill(os.getpid(), 9)",
    ],
)
def test_a_control_that_does_not_do_what_it_must_is_never_evidence(tmp_path: Path, program: str) -> None:
    session = with_claims(tmp_path / "run")
    experiment = planned(session, program)
    allow_experiment(session, experiment)
    list(conduct(session, BENCH, experiment))
    (judged,) = session.book().of(ExperimentJudged)
    assert (judged.verdict, judged.class_, judged.changes) == ("error", None, ())
    assert session.book().state.claims[CLAIM].status == "pending"
    assert all(control is not None for control, _ in slots(session))  # no repetition was worth running
    assert errors(session) == []


def test_what_cannot_be_started_is_an_error_and_says_why(tmp_path: Path) -> None:
    session = with_claims(tmp_path / "run")
    words = ("no-such-program", "test.py")
    first = planned(session)
    plan = plan_of(session.book(), first)
    controls = tuple(structs.replace(one, argv=words) for one in plan.controls)
    experiment = planned(session, argv=words, controls=controls)
    list(conduct(session, BENCH, experiment))
    run = session.book().of(ExperimentRun)[-1]
    assert (run.exit, run.signal, run.ms) == (None, None, 0)
    assert b"neither a file of the experiment nor a program" in (
        session.run.blobs.read(run.stderr.kept) or b""
    )
    assert session.book().of(ExperimentJudged)[-1].verdict == "error"


def test_more_repetitions_count_with_those_that_there_are(tmp_path: Path) -> None:
    session = with_claims(tmp_path / "run")
    experiment = planned(session)
    allow_experiment(session, experiment)
    list(conduct(session, BENCH, experiment))
    list(conduct(session, BENCH, experiment, times=2))
    assert slots(session) == [*ALL, ("must_fail", 4), ("must_hold", 4), (None, 4), (None, 5)]
    first, second = session.book().of(ExperimentJudged)
    assert (first.counts.holds, second.counts.holds, second.class_) == (3, 5, "reproduced")
    assert errors(session) == []
    assert same_again(session)


def test_an_output_that_is_gone_is_said_and_not_judged_otherwise(tmp_path: Path) -> None:
    session = with_claims(tmp_path / "run")
    good, bad = (Predicate(of="stdout", test="equals", value=word) for word in ("good", "bad"))
    experiment = planned(session, pass_if=(good,), fail_if=(bad,))
    allow_experiment(session, experiment)
    list(conduct(session, BENCH, experiment))
    assert session.book().of(ExperimentJudged)[0].verdict == "holds"
    run = session.book().of(ExperimentRun)[-1]
    lose(tmp_path / "run", run.stdout.kept)
    again = RunSession(RunStore(tmp_path / "run"), standard, clock())
    with pytest.raises(OutputMissing):
        judgement(again.book(), experiment)
    found = findings(again.book(), standard(CRUX).context())
    assert [one.severity for one in found if one.code == "EXP004"] == ["warning"]


def test_a_word_is_for_one_experiment_for_a_run_and_can_be_taken_back(tmp_path: Path) -> None:
    session = with_claims(tmp_path / "run")
    first, second = planned(session), planned(session)

    def state() -> State:
        return session.book().state

    assert not state().runs_programs
    allow_experiment(session, first)
    assert (state().may_run(first), state().may_run(second)) == (True, False)
    amend_experiments(session, is_allowed=True)
    assert state().may_run(second)
    assert amend_experiments(session, is_allowed=True) == ()
    amend_experiments(session, is_allowed=False)
    assert (state().may_run(first), state().may_run(second)) == (True, False)
    assert errors(session) == []
    assert same_again(session)


def test_nobody_but_a_person_gives_the_word(tmp_path: Path) -> None:
    session = with_claims(tmp_path / "run")
    (said,) = amend_experiments(session, is_allowed=True)
    events: tuple[Event, ...] = session.book().events
    assert isinstance(said, Amendment)
    assert fold(events).runs_programs
    assert not fold([*events[:-1], structs.replace(said, by="controller")]).runs_programs


def test_the_next_run_of_a_series_is_read_from_the_ledger(tmp_path: Path) -> None:
    session = with_claims(tmp_path / "run")
    experiment = planned(session)
    assert next_slot(session.book(), experiment) == Slot("must_fail", 1)
    next(conduct(session, BENCH, experiment))
    assert next_slot(session.book(), experiment) == Slot("must_hold", 1)
