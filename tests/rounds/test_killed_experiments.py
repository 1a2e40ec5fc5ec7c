"""Experiments under `kill -9`, flaky programs, and programs whose control passes: nothing is lost, nothing made up."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from msgspec import structs

from ledger.audit.verify import verify
from ledger.events import ExperimentJudged, ExperimentRun
from ledger.state.book import Book
from ledger.state.experiments import content_of, judge, plan_of
from ledger.store.lock import DriverLease
from ledger.store.store import RunStore
from rounds.experiments.bench import Bench
from rounds.protocols import PROTOCOLS
from rounds.run.controller import Controller
from rounds.run.experiments import conduct
from rounds.run.human_actions import allow_experiment
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.rounds.experimenting import BENCH, CLAIM, READS, planned, sandbox_or_skip, with_claims
from tests.rounds.openings import clock
from tests.validators.factory import findings

pytestmark = pytest.mark.slow

CRUX: Final = PROTOCOLS["crux"]
INSTANTS: Final = 12
"""Kills, spread over the time that a whole series takes."""
SLOW: Final = f"import time\ntime.sleep(0.2)\n{READS}"


def conducting(path: Path, bench: Bench, experiment: str) -> int:
    """A process of its own that runs a series as the command does, from the first instant; its number."""
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            os.setsid()
            with DriverLease(path):
                for _ in conduct(RunSession(RunStore(path), standard, clock()), bench, experiment):
                    pass
        os._exit(0)
    return pid


def kill(pid: int) -> bool:
    """Kill a process with all that it started; whether it was still running."""
    ended, _ = os.waitpid(pid, os.WNOHANG)
    if ended:
        return False
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return True


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(INSTANTS, id="slice"),
        pytest.param(200, id="whole", marks=pytest.mark.campaign),
    ],
)
def test_killed_series_go_on_and_count_nothing_twice(tmp_path: Path, kills: int) -> None:
    """Kill at random instants of one series after another; a kill counts when the process was still running."""
    bench = Bench(sandbox_or_skip())
    session, run = with_claims(tmp_path / "run"), tmp_path / "run"
    experiments, chance, done, amid = [_allowed(session, 0)], random.Random(7), 0, 0
    seen: list[tuple[int, str]] = []
    while done < kills:
        if _judged(tmp_path, experiments[-1]):
            experiments.append(_allowed(session, len(experiments)))
        pid = conducting(run, bench, experiments[-1])
        time.sleep(chance.uniform(0, 1.5))
        was_running = kill(pid)
        assert verify(run).ok or _settled(tmp_path)
        made = [(one.seq, one.of) for one in RunStore(run).book().of(ExperimentRun)]
        assert made[: len(seen)] == seen, "a run that was there is gone"
        seen, done = made, done + was_running
        amid += was_running and made[-1:] != [] and made[-1][1] == experiments[-1]
    assert amid * 3 > kills, "too few kills fell into a series that had begun"
    while not _judged(tmp_path, experiments[-1]):
        os.waitpid(conducting(run, bench, experiments[-1]), 0)
    again = RunSession(RunStore(tmp_path / "run"), standard, clock())
    book = again.book()
    counted = Counter((run.of, run.control, run.n) for run in book.of(ExperimentRun))
    assert max(counted.values()) == 1
    for experiment in experiments:
        assert {key for key in counted if key[:2] == (experiment, None)} == {
            (experiment, None, n) for n in (1, 2, 3)
        }
        assert [one.verdict for one in book.of(ExperimentJudged) if one.of == experiment] == ["holds"]
    assert [one for one in findings(book, standard(CRUX).context()) if one.severity == "error"] == []
    assert re_execute(book, CRUX, Controller(CRUX, standard(CRUX))).identical
    print(f"{done} kills, {amid} of them amid a series; {len(experiments)} series, {len(counted)} runs")


def _allowed(session: RunSession, n: int) -> str:
    """One more program that a person said may be run."""
    experiment = planned(session, f"{SLOW}# {n}\n")
    allow_experiment(session, experiment)
    return experiment


def _judged(path: Path, experiment: str) -> bool:
    judged = RunStore(path / "run").book().of(ExperimentJudged)
    return any(one.of == experiment for one in judged)


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
