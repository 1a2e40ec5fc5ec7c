"""Experiments under `kill -9`, flaky programs, and programs whose control passes: nothing is lost, nothing made up."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from msgspec import structs

from ledger.audit.verify import verify
from ledger.events import ExperimentJudged, ExperimentRun
from ledger.state.book import Book
from ledger.state.experiments import judge
from ledger.state.series import content_of, plan_of
from ledger.store.store import RunStore
from rounds.experiments.bench import NoSandbox, bench_here
from rounds.protocols import PROTOCOLS
from rounds.run.controller import Controller
from rounds.run.experiments import conduct
from rounds.run.human_actions import allow_experiment
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.rounds.experimenting import BENCH, CLAIM, READS, planned, with_claims
from tests.rounds.openings import clock
from validators.rulebook import findings

pytestmark = pytest.mark.slow

CRUX: Final = PROTOCOLS["crux"]
INSTANTS: Final = 12
"""Kills, spread over the time that a whole series takes."""
SLOW: Final = f"import time\ntime.sleep(0.2)\n{READS}"


def moot(path: Path, *words: str) -> subprocess.Popen[bytes]:
    """The command itself, in a process group of its own."""
    call = [sys.executable, "-m", "moot", "experiment", *words]
    return subprocess.Popen(
        call, cwd=path, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def test_a_killed_series_goes_on_and_counts_nothing_twice(tmp_path: Path) -> None:
    try:
        bench_here()
    except NoSandbox as error:
        pytest.skip(error.what)
    session = with_claims(tmp_path / "run")
    experiment = planned(session, SLOW)
    chance = random.Random(7)
    for _ in range(INSTANTS):
        running = moot(tmp_path, "run", "run", experiment) if not _judged(tmp_path) else None
        if running is None:
            break
        time.sleep(chance.uniform(0.3, 2.2))
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        assert verify(tmp_path / "run").ok or _settled(tmp_path)
    if not _judged(tmp_path):
        last = moot(tmp_path, "run", "run", experiment)
        assert last.wait(timeout=60) == 0
    again = RunSession(RunStore(tmp_path / "run"), standard, clock())
    book = again.book()
    counted = Counter((run.control, run.n) for run in book.of(ExperimentRun))
    assert max(counted.values()) == 1
    assert {key for key in counted if key[0] is None} >= {(None, 1), (None, 2), (None, 3)}
    assert [one.verdict for one in book.of(ExperimentJudged)][-1] == "holds"
    assert [one for one in findings(book, standard(CRUX).context()) if one.severity == "error"] == []
    assert re_execute(book, CRUX, Controller(CRUX, standard(CRUX))).identical


def _judged(path: Path) -> bool:
    return bool(RunStore(path / "run").book().of(ExperimentJudged))


def _settled(path: Path) -> bool:
    """What a killed writer left behind is set aside by the next one."""
    RunSession(RunStore(path / "run"), standard, clock()).settle()
    with RunStore(path / "run").writer():
        pass
    return verify(path / "run").ok


def outcomes(seed: int) -> tuple[bool, ...]:
    """Seeded results of a flaky program: at least one repetition of each kind."""
    chance = random.Random(seed)
    k = chance.randint(2, 6)
    made = [chance.random() < 0.5 for _ in range(k)]
    if len(set(made)) == 1:
        made[chance.randrange(k)] = not made[0]
    return tuple(made)


@pytest.fixture(scope="module")
def judged_by(tmp_path_factory: pytest.TempPathFactory) -> tuple[Book, str]:
    """A plan on a ledger, and its first real runs: one of each kind, to be put together in any order."""
    session = with_claims(tmp_path_factory.mktemp("flaky") / "run")
    experiment = planned(session)
    list(conduct(session, BENCH, experiment))
    return session.book(), experiment


def test_200_flaky_programs_are_never_called_reproduced(judged_by: tuple[Book, str]) -> None:
    book, experiment = judged_by
    plan = plan_of(book, experiment)
    fails, holds = (run for run in book.of(ExperimentRun) if run.control is not None)
    for seed in range(200):
        results = outcomes(seed)
        runs = [fails, holds]
        for n, came in enumerate(results, 1):
            runs.append(structs.replace(holds if came else fails, control=None, n=n))
        counts, verdict, class_ = judge(structs.replace(plan, k=len(results)), runs, content_of(book.blobs))
        assert (verdict, class_) == ("flaky", None)
        assert (counts.holds, counts.fails) == (results.count(True), results.count(False))


@pytest.mark.parametrize("seed", range(6))
def test_a_program_that_flips_a_coin_is_flaky_for_good(tmp_path: Path, seed: int) -> None:
    """Run for real; what differed once stays flaky, however often it is run again."""
    session = with_claims(tmp_path / "run")
    program = (
        "import os, sys\nsaid = open('data.txt').read()\n"
        "coin = int.from_bytes(os.urandom(1), 'big') % 2\n"
        "sys.exit(1 if said.strip() != 'good' else 0 if said.startswith(' ') else coin)\n"
    )
    experiment = planned(session, program, k=8)
    allow_experiment(session, experiment)
    list(conduct(session, BENCH, experiment))
    list(conduct(session, BENCH, experiment, times=3))
    book = session.book()
    repetitions = {run.exit for run in book.of(ExperimentRun) if run.control is None}
    assert repetitions == {0, 1}, f"by chance alike: {seed}"
    assert [(one.verdict, one.class_) for one in book.of(ExperimentJudged)][-1] == ("flaky", None)
    assert book.state.claims[CLAIM].status == "tested_unclear"
