"""Recorded runs with experiments, and one made here: run again by real processes, with and without walls.

Of `rounds/run/reexecution.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ledger.events import ExperimentJudged
from ledger.state.book import Book
from ledger.state.decided import final_in_force
from ledger.state.experiments import runs_of
from ledger.store.store import RunStore
from rounds.experiments.bench import Bench
from rounds.run.experiments import conduct
from rounds.run.human_actions import allow_experiment
from tests.rounds.experimenting import planned, sandbox_or_skip, with_claims

EXAMPLES = Path(__file__).resolve().parents[2] / "runs" / "examples"


def has_experiments(run: Path) -> bool:
    return '"kind":"experiment_judged"' in (run / "verifications.jsonl").read_text("utf-8")


RECORDED = [path for path in sorted(EXAMPLES.iterdir()) if path.is_dir() and has_experiments(path)]
recorded = pytest.mark.parametrize(
    "run",
    RECORDED or [pytest.param(None, marks=pytest.mark.skip("no recorded run holds an experiment yet"))],
    ids=lambda run: run.name if isinstance(run, Path) else "none",
)


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(sandbox_or_skip())


@pytest.fixture(scope="module")
def made(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one experiment that holds, run in the sandbox."""
    path = tmp_path_factory.mktemp("made") / "run"
    session = with_claims(path)
    experiment = planned(session)
    allow_experiment(session, experiment)
    list(conduct(session, bench, experiment))
    return path


def again(run: Path, *more: str, **environment: str) -> tuple[int, str]:
    """Exit code and output of running a run's experiments again."""
    call = [sys.executable, "-m", "moot", "replay", str(run), "--re-run", *more]
    there = {**os.environ, **environment}
    said = subprocess.run(call, capture_output=True, text=True, env=there, check=False, timeout=600)
    return said.returncode, said.stdout


def in_data(said: str) -> list[dict[str, Any]]:
    """What came out for each experiment."""
    found: list[dict[str, Any]] = json.loads(said)["re_run"]
    return found


def decides_something(book: Book) -> bool:
    """Whether an experiment with both controls holds or fails on a claim of a final decision."""
    cited = {
        cite.id for one in final_in_force(book.state) for cite in book.state.decisions[one].cites
    }  # a claim, or the experiment itself
    return any(
        one.verdict in ("holds", "fails")
        and {run.control for run in runs_of(book, one.of)} >= {"must_fail", "must_hold"}
        and bool(cited & {one.of, *book.state.experiments[one.of].claims})
        for one in book.of(ExperimentJudged)
    )


@recorded
@pytest.mark.slow
@pytest.mark.usefixtures("bench")
def test_a_recorded_run_gives_the_same_verdicts_and_none_of_them_is_vacuous(run: Path) -> None:
    code, said = again(run, "--json")
    found = in_data(said)
    assert code == 0, said
    assert found
    assert all(one["same"] and one["now"] == one["recorded"] for one in found if one["recorded"])
    assert decides_something(RunStore(run).book())


@recorded
def test_a_recorded_run_is_not_run_again_without_a_sandbox(run: Path) -> None:
    expect_not_run(run)


@pytest.mark.usefixtures("bench")
def test_a_run_made_here_gives_the_same_verdict(made: Path) -> None:
    code, said = again(made, "--json")
    (found,) = in_data(said)
    assert (code, found["recorded"], found["now"], found["same"]) == (0, "holds", "holds", True), said


def test_a_run_made_here_is_not_run_again_without_a_sandbox(made: Path) -> None:
    expect_not_run(made)


def expect_not_run(run: Path) -> None:
    """Nothing is run where no backend is found, that is said of each experiment, and the exit code is 1."""
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    code, data = again(run, "--json", PATH="/nowhere")
    found = in_data(data)
    _, said = again(run, PATH="/nowhere")
    judged = [one for one in found if one["recorded"] is not None]
    assert judged
    assert code == 1
    assert {one["now"] for one in found} == {None}
    assert said.count("not run here") == len(found)
    assert "no sandbox holds here" in said
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
