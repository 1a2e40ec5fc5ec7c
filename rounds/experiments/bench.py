"""The bench: a sandbox that passed its self-test here, and one run of a planned experiment on it.

The result of a program is returned as an event and its blobs; nothing is written here.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ledger.events import ExperimentPlanned, ExperimentRun
from ledger.events.experiments import ExperimentEnvironment, KeptOutput
from ledger.state.experiments import Content, plan_problems
from ledger.state.series import Slot
from rounds.experiments.bubblewrap import NAME
from rounds.experiments.sandbox import (
    Capture,
    Job,
    Limits,
    SandboxBroken,
    SandboxRun,
    run_job,
)
from rounds.experiments.self_test import SelfTest, self_test


class NoSandbox(Exception):
    """A sandbox that does not hold here although programs are to be run. Nothing is ever run unconfined."""

    exit_code = 2

    def __init__(self, test: SelfTest) -> None:
        self.what = f"no sandbox holds here, and nothing is run without one: {test.text}"
        self.fix = f"{test.fix}; see `moot doctor`"
        super().__init__(self.what)


@dataclass(frozen=True)
class Conducted:
    """One run of a series, ready to be committed: the event, and the bytes that it names."""

    event: ExperimentRun
    blobs: Mapping[str, bytes]


@dataclass(frozen=True)
class Bench:
    """A sandbox that passed its self-test."""

    test: SelfTest

    @property
    def environment(self) -> ExperimentEnvironment:
        """Return where programs run here, for the record."""
        return ExperimentEnvironment(
            interpreter=interpreter_here(),
            platform=f"{platform.system()} {platform.machine()}",
            sandbox=NAME,
            sandbox_version=self.test.version,
            self_test=self.test.passed,
        )

    def conduct(
        self,
        plan: ExperimentPlanned,
        slot: Slot,
        content: Content,
        *,
        started_at: str,
        is_interrupted: Callable[[], bool] | None = None,
    ) -> Conducted:
        """Run one repetition or control; one that could not be started has a note on stderr and no exit code.

        The event is in the plan's round and phase; the caller sets them when it commits the event. Raises
        `SandboxInterrupted`, and then there is nothing to record.
        """
        try:
            run = run_job(job_of(plan, slot, content), is_interrupted)
        # A program that cannot start is a result as well: without an event the series would never end.
        except (SandboxBroken, OSError) as error:
            run = _not_run(f"not run: {error}")
        event = ExperimentRun(
            round=plan.round,
            phase=plan.phase,
            by="controller",
            of=plan.id,
            n=slot.n,
            control=slot.control,
            environment=self.environment,
            exit=run.exit,
            signal=run.signal,
            stdout=_kept(run.stdout),
            stderr=_kept(run.stderr),
            started_at=started_at,
            ms=run.ms,
        )
        blobs = {_sha256(stream.kept): stream.kept for stream in (run.stdout, run.stderr)}
        return Conducted(event, blobs)


def interpreter_here() -> str:
    """Return the Python that runs moot and programs, with its SQLite: `CPython 3.11.7 (SQLite 3.40.1)`."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    try:
        from sqlite3 import sqlite_version
    # Some builds of Python come without SQLite.
    except ImportError:
        return python
    return f"{python} (SQLite {sqlite_version})"


def bench_here() -> Bench:
    """Return the sandbox if it really holds here. Raises `NoSandbox`."""
    test = self_test()
    if not test.passed:
        raise NoSandbox(test)
    return Bench(test)


def job_of(plan: ExperimentPlanned, slot: Slot, content: Content) -> Job:
    """Return what is run: the plan's program, or a control's in its place, beside the plan's inputs.

    Raises `SandboxBroken` for a plan that `check` refuses, or a file that is not what was planned: a ledger that was
    written by hand obeys no limits.
    """
    # Checked again before every run: the plan may come from a ledger that another program wrote.
    for problem in plan_problems(plan):
        raise SandboxBroken(f"the plan is refused: {problem}")
    files, argv = plan.files, plan.argv
    for control in plan.controls:
        if slot.control == f"must_{control.must}":
            files, argv = control.files, control.argv
    planned = {file.name: file.sha256 for file in plan.inputs} | {file.name: file.sha256 for file in files}
    named = {name: content(sha256) for name, sha256 in planned.items()}
    for name, sha256 in planned.items():
        # A blob that was changed would run another program than the one that was planned and reviewed.
        if _sha256(named[name]) != sha256:
            raise SandboxBroken(f"{name} is not the file that was planned")
    limits = Limits(
        wall_seconds=plan.limits.wall_seconds,
        cpu_seconds=plan.limits.cpu_seconds,
        memory_bytes=plan.limits.memory_bytes,
        kept_bytes=plan.limits.output_bytes,
    )
    return Job(argv, named, seed=plan.seed, limits=limits)


def _not_run(why: str) -> SandboxRun:
    """Return the record of a program that could not be started, with the reason in place of its stderr."""
    reason = why.encode("utf-8", "replace")
    nothing = Capture(_sha256(b""), 0, b"")
    return SandboxRun("not_started", None, None, nothing, Capture(_sha256(reason), len(reason), reason), 0)


def _kept(stream: Capture) -> KeptOutput:
    return KeptOutput(sha256=stream.sha256, bytes=stream.length, kept=_sha256(stream.kept))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
