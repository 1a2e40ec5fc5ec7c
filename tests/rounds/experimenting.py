"""Runs with a claim and experiments on it, for tests. The programs are the tests' own, so that they need no walls."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ledger.events import ExperimentPlanned
from ledger.events.experiments import ExperimentControl, ExperimentLimits, InputBlob, NamedBlob, Predicate
from rounds.experiments.bench import Bench
from rounds.experiments.sandbox import Limits
from rounds.experiments.self_test import SelfTest
from rounds.run.human_actions import plan_experiment
from rounds.run.session import RunSession
from tests.protocols.crux_seats import ROLES, World, begin, submit

WORLD: Final = World(
    first=dict.fromkeys(ROLES, 60),
    proposed={"critic": ("execution", 50, 90, 30), "action": ("document", 60, 80, 30)},
)
CLAIM: Final = "C-1-1"
READS: Final = "import sys\nsaid = open('data.txt').read().strip()\nprint(said)\nsys.exit(said != 'good')\n"
"""Holds where the data is good, and fails otherwise."""


class InTheOpen:
    """A backend without walls: for programs that the tests themselves wrote, and for nothing else."""

    name: str = "open"

    def version(self) -> str | None:
        return "1.0"

    def command(
        self, launcher: Sequence[str], work: Path, limits: Limits, environment: Mapping[str, str]
    ) -> list[str]:
        del limits
        return ["env", "-C", str(work), *(f"{k}={v}" for k, v in environment.items()), *launcher]

    def end(self, work: Path) -> None:
        """Nothing is beyond the group."""


BENCH: Final = Bench(InTheOpen(), SelfTest("open", "1.0", True, 0, (), None))


def with_claims(path: Path) -> RunSession:
    """A run whose first round has left two claims, and whose second asks for plans."""
    session = begin(path)
    for _ in range(8):
        if session.book().state.round == 2:
            return session
        submit(session, session.asked()[0], WORLD)
    raise AssertionError("round 2 was not opened")


def planned(session: RunSession, program: str = READS, **more: Any) -> str:
    """The id of an experiment that a person planned: good data, a control with bad data, one with other good data."""
    blobs: dict[str, bytes] = {}

    def kept(name: str, text: str) -> NamedBlob:
        content = text.encode()
        sha256 = hashlib.sha256(content).hexdigest()
        blobs[sha256] = content
        return NamedBlob(name=name, sha256=sha256)

    file, data = kept("test.py", program), kept("data.txt", "good")
    words = ("python3", "test.py")
    fields: dict[str, Any] = {
        "round": 0, "phase": "open", "by": "human", "claims": (CLAIM,), "question": "Is the data good?",
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
