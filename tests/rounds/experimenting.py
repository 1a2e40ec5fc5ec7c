"""Runs with a claim and experiments on it, for tests: the programs run in the real sandbox."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from ledger.events import ExperimentPlanned
from ledger.events.experiments import ExperimentControl, ExperimentLimits, InputBlob, NamedBlob, Predicate
from rounds.experiments import bubblewrap
from rounds.experiments.bench import Bench, Conducted, SelfTest, self_test
from rounds.run.human_actions import plan_experiment
from rounds.run.session import RunSession
from tests.protocols.crux_seats import ROLES, World, begin, submit

WORLD: Final = World(
    first=dict.fromkeys(ROLES, 60),
    proposed={"critic": [("execution", 50, 90, 30)], "action": [("document", 60, 80, 30)]},
)
CLAIM: Final = "C-1-1"
READS: Final = "import sys\nsaid = open('data.txt').read().strip()\nprint(said)\nsys.exit(said != 'good')\n"
"""Holds where the data is good, and fails otherwise."""


@cache
def sandbox_or_skip() -> SelfTest:
    """Return the self-test that the sandbox passed here; skip the test where there is no sandbox."""
    test = self_test()
    if not test.passed and not test.escaped:
        pytest.skip(test.text)
    assert test.passed, test.text
    return test


class SkippingBench(Bench):
    """The real sandbox; a test that runs a program in it is skipped where there is none."""

    def conduct(self, *args: Any, **options: Any) -> Conducted:
        sandbox_or_skip()
        return super().conduct(*args, **options)


BENCH: Final = SkippingBench(SelfTest(bubblewrap.version(), True, 0, (), None))


def with_claims(path: Path) -> RunSession:
    """A run that has two claims and asks for numbers about them."""
    session = begin(path)
    for _ in range(8):
        if session.book().state.claims:
            return session
        submit(session, session.pending()[0], WORLD)
    raise AssertionError("no claim was made")


def planned(session: RunSession, program: str = READS, contents: Iterable[bytes] = (), **more: Any) -> str:
    """The id of an experiment that a person planned: good data, a control with bad data, one with other good data.

    `contents` are those of the inputs in `more`.
    """
    blobs = {hashlib.sha256(content).hexdigest(): content for content in contents}

    def kept(name: str, text: str) -> NamedBlob:
        content = text.encode()
        sha256 = hashlib.sha256(content).hexdigest()
        blobs[sha256] = content
        return NamedBlob(name=name, sha256=sha256)

    file, data = kept("test.py", program), kept("data.txt", "good")
    words = ("python3", "test.py")
    fields: dict[str, Any] = {
        "id": "E-0-1", "round": 0, "phase": "open", "by": "human", "claims": (CLAIM,), "question": "Is the data good?",
        "files": (file,), "argv": words, "k": 3, "seed": 7,
        "inputs": (InputBlob(name="data.txt", sha256=data.sha256, origin="a test"),),
        "pass_if": (Predicate(of="exit", test="equals", value="0"),),
        "fail_if": (Predicate(of="exit", test="equals", value="1"),),
        "controls": (
            ExperimentControl(must="fail", files=(file, kept("data.txt", "bad")), argv=words),
            ExperimentControl(must="hold", files=(file, kept("data.txt", " good ")), argv=words),
        ),
        "limits": ExperimentLimits(
            wall_seconds=20, cpu_seconds=20, memory_bytes=512 * 2**20, output_bytes=65_536
        ),
    }  # fmt: skip
    (event,) = plan_experiment(session, ExperimentPlanned(**(fields | more)), blobs)
    assert event.id is not None
    return event.id
