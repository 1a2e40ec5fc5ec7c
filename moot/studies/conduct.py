"""State of a study on the disk, and the loop that plays open jobs until each has ended or waits.

Besides the runs, only the end of each job (`ends/NAME.json`) and the plan (`planned.json`) are kept. A study that is
killed goes on from its runs, and no reply is paid for twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta

from ledger.plain_json import NotJson, decoded
from ledger.result import Result
from ledger.store import disk
from ledger.store.disk import read_plain, real, refuse_link, writing
from ledger.store.failures import LedgerError, LockTimeout
from ledger.store.lock import locked
from ledger.store.store import RunStore
from moot.app.seats import Agreed, bench_for, need_word_for_programs, need_word_for_seats
from moot.environment import now
from moot.errors import DAMAGED, MootError, usage
from moot.studies.definition import FILE, Study
from moot.studies.playing import SHARED, Engine, JobEnd, Task, fetched, recorded, unpacked
from moot.studies.units import StudyJob, UnitAnswer, answer_in, deliberation_for, jobs_of
from rounds.setup.deliberation import to_toml

RUNS: Final = "runs"
ENDS: Final = "ends"
PLANNED: Final = "planned.json"
RECORD_BYTES_MAX: Final = 1 << 16
_FIX_OF_END: Final = (
    "remove it: the run itself says how it came out, and what did not come out is played again"
)
_FIX_OF_PLAN: Final = (
    "restore it from a copy; without one remove it, and the plan counts from the next run on"
)
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
Record = TypeVar("Record")
ENDED: Final = ("finished", "failed", "broken")
"""States after which a job is not played again, and neither is one that its budget stopped."""


class StudyPlan(Result, frozen=True):
    """Hash of the study file when the first run was opened."""

    at: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT[0-9:.]{8,15}Z$")]
    study_sha256: Sha256
    keys_sha256: Sha256 | None


@dataclass(frozen=True)
class StudyState:
    """A study and the state of its jobs: `ends` holds ended jobs, `begun` the runs that exist."""

    study: Study
    jobs: tuple[StudyJob, ...]
    ends: dict[str, JobEnd]
    begun: frozenset[str]

    @cached_property
    def by_name(self) -> dict[str, StudyJob]:
        """Return every job by its name."""
        return {job.name: job for job in self.jobs}

    def path(self, name: str) -> Path:
        """Return the directory of a job's run."""
        return self.study.folder / RUNS / name

    def answer(self, name: str) -> UnitAnswer:
        """Return the answer of a finished job."""
        return answer_in(RunStore(self.path(name)).book())

    def is_ready(self, job: StudyJob) -> bool:
        """Return whether a job has not ended, and all jobs that it waits for have finished."""
        finished = all(self._state(name) == "finished" for name in job.after)
        return job.name not in self.ends and finished

    def is_lost(self, job: StudyJob) -> bool:
        """Return whether a job can never start, because one that it waits for failed or is lost."""
        return any(
            self._state(name) not in (None, "finished") or self.is_lost(self.by_name[name])
            for name in job.after
        )

    def _state(self, name: str) -> str | None:
        end = self.ends.get(name)
        return end.state if end is not None else None


def standing_of(study: Study) -> StudyState:
    """Return the state of a study now. A run that others finished, reply by reply, counts at once."""
    jobs = tuple(jobs_of(study))
    names = {job.name for job in jobs}
    ends: dict[str, JobEnd] = {}
    begun = {head.parent.name for head in (study.folder / RUNS).glob("*/head")} & names
    for file in sorted((study.folder / ENDS).glob("*.json")):
        end = _recorded(file, JobEnd, _FIX_OF_END) if file.stem in names else None
        if end is None:
            continue
        if end.name != file.stem:
            raise _damaged(file, f"it is about the job {end.name}", _FIX_OF_END)
        # A lost run must not count as an answer: the report would have no ledger to read it from.
        if end.state == "finished" and end.name not in begun:
            raise _damaged(file, "it says that a run finished which is not there", _FIX_OF_END)
        ends[end.name] = end
    for name in begun - set(ends):
        with suppress(LedgerError):  # the worker that plays it says what is wrong with it
            # Host seats finish a run without a worker, so no `ends` file may exist for it.
            state = RunStore(study.folder / RUNS / name).state()
            if state.finished:
                reason = state.closing.reason if state.closing is not None else None
                ends[name] = JobEnd(name=name, state="finished", reason=reason)
    return StudyState(study, jobs, ends, frozenset(begun))


def task_for(state: StudyState, job: StudyJob, store: str) -> Task:
    """Return what a worker needs to play a job."""
    study, arm = state.study, state.study.arm(job.unit.arm)
    # The answers it waits for are read from the ledgers, which are the only record of them.
    deliberation = deliberation_for(study, job, {name: state.answer(name) for name in job.after})
    return Task(
        name=job.name,
        directory=str(real(study.folder / RUNS)),
        toml=to_toml(deliberation),
        # A tape per item lets a study be replayed from its recordings.
        seats=study.seats(arm.id, is_judging=job.is_judging).replace("{item}", job.unit.item),
        documents=study.documents[job.unit.item],
        experiments=not job.is_judging and arm.experiments == "on",
        instant=study.file.study.instant,
        store=store,
    )


def check_word(study: Study, agreed: Agreed | None, *, seats: bool, programs: bool, is_here: bool) -> None:
    """Ask the person before using seats, or running programs, that only the study's file names.

    `seats` and `programs`: the person allowed these. `is_here`: runs are played on this machine. Raises `MootError` and
    `NoSandbox`.
    """
    where, judging = str(study.folder / FILE), study.file.judging
    specs = {f"arm {arm.id}": arm.seats for arm in study.file.arm}
    # Judges read the answers of all arms, so their seats need consent like any other.
    specs |= {"[judging]": judging.seats} if judging is not None else {}
    need_word_for_seats(where, specs, agreed, is_allowed=seats)
    if any(arm.experiments == "on" for arm in study.file.arm):
        need_word_for_programs(where, agreed, is_allowed=programs)
        if is_here:
            bench_for(agreed)


def check_plan(study: Study) -> StudyPlan:
    """Return the plan, written before the first run. Raises `MootError` when the study file has changed since."""
    place, planned = study.folder / PLANNED, plan_of(study)
    if planned is not None:
        if planned.study_sha256 != study.sha256:
            what = f"study.toml is not what was planned on {planned.at[:10]}"
            fix = "take the change back, or begin another study in a directory of its own"
            raise MootError("plan_changed", what, str(study.folder), fix)
        return planned
    planned = StudyPlan(at=now(), study_sha256=study.sha256, keys_sha256=study.file.study.keys_sha256)
    # Written before any run: the report can then prove that questions and arms were fixed beforehand.
    _written(place, msgspec.json.format(msgspec.json.encode(planned), indent=1))
    return planned


def plan_of(study: Study) -> StudyPlan | None:
    """Return the plan, or None before the first run."""
    return _recorded(study.folder / PLANNED, StudyPlan, _FIX_OF_PLAN)


def conduct(
    study: Study,
    engine: Engine,
    tell: Callable[[StudyJob, JobEnd], object],
    *,
    store: str = SHARED,
    limit: int | None = None,
) -> StudyState:
    """Play open jobs until every job has ended or waits for a seat or a person, or `limit` jobs were played.

    Raises `MootError` when another process conducts this study, or its plan has changed.
    """
    with _alone(study):
        # A study from another person must not write into a directory outside of it.
        with writing(study.folder / RUNS):
            refuse_link(study.folder / RUNS)
        check_plan(study)
        state = standing_of(study)
        waiting: set[str] = set()
        running: dict[str, StudyJob] = {}
        left = limit
        while True:
            for job in _next(state, waiting | set(running)):
                # `limit` counts runs that are started, so that a trial costs no more than was asked for.
                if len(running) >= engine.capacity or left == 0:
                    break
                engine.submit(task_for(state, job, store))
                running[job.name] = job
                left = None if left is None else left - 1
            # Nothing is running and nothing could be started: the rest waits for replies, or is lost.
            if not running:
                return state
            played, archive = engine.next_done()
            job = running.pop(played.name)
            _kept(state, played, archive, store)
            if _came_out(played):
                state.ends[played.name] = played
            else:
                # A job that waits is not tried again in this call, or the loop would never end.
                waiting.add(played.name)
            tell(job, played)


def _next(state: StudyState, taken: Iterable[str]) -> Iterator[StudyJob]:
    not_now = set(taken)
    return (job for job in state.jobs if job.name not in not_now and state.is_ready(job))


def _came_out(played: JobEnd) -> bool:
    # A budget is part of an arm, so a run that it stopped is a result; one that a person stopped goes on later.
    return played.state in ENDED or (played.state == "stopped" and (played.reason or "").startswith("budget"))


def _kept(state: StudyState, played: JobEnd, archive: bytes, store: str) -> None:
    """Fetch a run from where it was played, and record its end."""
    path = state.path(played.name)
    # A run that is already here is newer than the archive of a job that was played twice.
    if store != SHARED and not path.exists() and played.state not in ("busy", "broken"):
        unpacked(archive or fetched(store, played.name), path)
    if _came_out(played):
        _written(state.study.folder / ENDS / f"{played.name}.json", recorded(played))


def _recorded(place: Path, form: type[Record], fix: str) -> Record | None:
    """Return a record that the study wrote, or None where there is no such file.

    Raises `MootError` for anything else in its place: the sender of a study can put any file there.
    """
    # `lexists`: a dangling link is something in its place, and is reported below.
    if not os.path.lexists(place):
        return None
    try:
        return decoded(read_plain(place, RECORD_BYTES_MAX), form)
    except OSError as error:
        raise _damaged(place, error.strerror or str(error), fix) from None
    except NotJson as error:
        raise _damaged(place, str(error), fix) from None


def _damaged(place: Path, what: str, fix: str) -> MootError:
    return MootError("damaged", f"this file of the study is damaged: {what}", str(place), fix, DAMAGED)


def _written(place: Path, content: bytes) -> None:
    """Write a small file durably, whole or not at all. Raises `WriteFailed`."""
    directory = place.parent
    with writing(place):
        refuse_link(directory)
        if not directory.exists():
            directory.mkdir()
            disk.settle(directory.parent)
        disk.replace(place, [content])
        disk.settle(directory)


def _alone(study: Study) -> ExitStack:
    """Return the study's lock, taken. Raises `MootError` when another process has it."""
    stack = ExitStack()
    try:
        # No waiting: a second process would only play the same jobs again.
        stack.enter_context(locked(study.folder, 0.0))
    except LockTimeout:
        what = "another process conducts this study"
        raise usage(what, "wait for it, or stop it", str(study.folder)) from None
    return stack
