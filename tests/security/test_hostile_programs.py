"""Hostile programs in the sandbox: none gets out, none hangs, each has a stated verdict."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from msgspec import structs

from ledger.audit.verify import verify
from ledger.events.experiments import ExperimentLimits, InputBlob, NamedBlob, Predicate
from ledger.state.experiments import verdict_of
from ledger.state.series import Slot, content_of, plan_of, runs_of
from ledger.store.store import RunStore
from rounds.experiments.bench import Bench, Conducted
from rounds.run.human_actions import allow_experiment
from rounds.run.session import RunSession
from tests.rounds.experimenting import planned, sandbox_or_skip, with_claims
from tests.security.hostile_programs import PROGRAMS

pytestmark = pytest.mark.slow  # real programs behind real walls

WALL_SECONDS: Final = 4
SECONDS_TO_END: Final = 8.0
"""What ending and cleaning up may take on a busy machine."""
VERDICTS: Final = ("holds", "fails", "inconclusive", "error")
LIMITS: Final = ExperimentLimits(
    wall_seconds=WALL_SECONDS, cpu_seconds=2, memory_bytes=200 * 2**20, output_bytes=65_536
)


@dataclass(frozen=True)
class Outside:
    """What lies outside the walls, and must be as it was."""

    session: RunSession
    experiment: str
    directory: Path
    secret: str
    listener: socket.socket
    signals: list[int]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(sandbox_or_skip())


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    """A run with a plan, a secret beside it, listeners, and a directory that everybody may write."""
    directory = tmp_path_factory.mktemp("outside")
    directory.chmod(0o777)
    (directory / "secret.txt").write_text("the-secret-words")
    session = with_claims(directory / "run")
    signals: list[int] = []
    os.environ["SECRET_FOR_TESTS"] = "1"
    before = signal.signal(signal.SIGUSR1, lambda number, _: signals.append(number))
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as abstract:
        name = f"moot-tests-{os.getpid()}-{time.monotonic_ns()}"
        abstract.bind(f"\0{name}")
        abstract.listen()
        given = {
            "secret": str(directory / "secret.txt"), "run": str(directory / "run"), "outside": str(directory),
            "port": listener.getsockname()[1], "pid": os.getpid(), "home": str(Path.home()), "abstract": name,
            "way": sys.base_prefix.split("/"),
        }  # fmt: skip
        content = json.dumps(given).encode()
        sha256 = hashlib.sha256(content).hexdigest()
        session.run.blobs.write_all({sha256: content})
        holds, fails = (Predicate(of="exit", test="equals", value=value) for value in ("0", "1"))
        experiment = planned(
            session, inputs=(InputBlob(name="given.json", sha256=sha256, origin="a test"),),
            pass_if=(holds,), fail_if=(fails,), limits=LIMITS,
        )  # fmt: skip
        allow_experiment(session, experiment)
        listener.setblocking(False)
        yield Outside(session, experiment, directory, "the-secret-words", listener, signals)
    signal.signal(signal.SIGUSR1, before)
    del os.environ["SECRET_FOR_TESTS"]


def tried(outside: Outside, bench: Bench, program: str, n: int) -> Conducted:
    """One repetition of the plan with another program in its place."""
    book = outside.session.book()
    content = content_of(book.blobs)
    text = program.encode()
    sha256 = hashlib.sha256(text).hexdigest()
    plan = structs.replace(
        plan_of(book, outside.experiment), files=(NamedBlob(name="test.py", sha256=sha256),)
    )
    return bench.conduct(
        plan,
        Slot(None, n),
        lambda name: text if name == sha256 else content(name),
        started_at=outside.session.now(),
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hostile_program_stays_inside(bench: Bench, outside: Outside, name: str) -> None:
    outside.signals.clear()
    files = {path.name for path in outside.directory.iterdir()}
    head = outside.session.run.head()
    ledger = {path.name: path.read_bytes() for path in (outside.directory / "run").glob("*.jsonl")}
    began = time.monotonic()
    made = tried(outside, bench, PROGRAMS[name], 1)
    assert time.monotonic() - began < WALL_SECONDS + SECONDS_TO_END
    wrote = b"".join(made.blobs.values())
    assert b"OUT" not in made.blobs[made.event.stdout.kept]
    assert outside.secret.encode() not in wrote
    assert len(made.blobs[made.event.stdout.kept]) <= LIMITS.output_bytes
    assert not outside.signals
    with pytest.raises(BlockingIOError):
        outside.listener.accept()
    assert {path.name for path in outside.directory.iterdir()} == files
    assert outside.session.run.head() == head
    assert {path.name: path.read_bytes() for path in (outside.directory / "run").glob("*.jsonl")} == ledger
    plan = plan_of(outside.session.book(), outside.experiment)
    verdict = verdict_of(plan, made.event, lambda sha256: made.blobs[sha256])
    assert verdict in VERDICTS
    assert verdict != "holds" or made.event.exit == 0


def test_what_hostile_programs_wrote_lies_on_an_intact_ledger(bench: Bench, outside: Outside) -> None:
    """Every kind of output is committed as what it is: bytes, which nobody obeys."""
    words = [name for name in PROGRAMS if PROGRAMS[name].endswith("sys.exit(3)")]
    assert len(words) > 5
    first = 1 + max((run.n for run in runs_of(outside.session.book(), outside.experiment)), default=0)
    for n, name in enumerate(words, first):
        made = tried(outside, bench, PROGRAMS[name], n)
        outside.session.commit(lambda _, made=made: (made.event,), made.blobs)  # type: ignore[misc]  # bound now
    path = outside.directory / "run"
    assert verify(path).ok
    kept = RunStore(path).book()
    assert {verdict_of(plan_of(kept, outside.experiment), run, content_of(kept.blobs))
            for run in runs_of(kept, outside.experiment)} == {"inconclusive"}  # fmt: skip


def test_there_are_enough_of_them() -> None:
    assert len(PROGRAMS) >= 60
