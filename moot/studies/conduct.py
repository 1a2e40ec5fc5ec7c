"""A study as it stands on the disk, and the loop that plays what is open until everything came out or waits.

Nothing is kept beside the runs but how a job came out (`ends/NAME.json`) and what was planned (`planned.json`): a study
that is killed goes on from its runs, and no reply is paid for twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from ledger.result import Result
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot.app.seat_specs import needs_word
from moot.environment import now
from moot.errors import MootError, usage
from moot.studies.definition import Study
from moot.studies.engines import Engine
from moot.studies.playing import SHARED, JobEnd, Task, fetched, recorded, unpacked
from moot.studies.units import StudyJob, UnitAnswer, answer_in, deliberation_for, jobs_of
from rounds.setup.deliberation_toml import to_toml

RUNS: Final = "runs"
ENDS: Final = "ends"
PLANNED: Final = "planned.json"
ENDED: Final = ("finished", "failed", "broken")
"""States after which a job is not played again; so is one that its budget stopped."""


class StudyPlan(Result, frozen=True):
    """What the study file was when the first run was opened."""

    at: str
    study_sha256: str
    keys_sha256: str | None


@dataclass(frozen=True)
class StudyState:
    """A study and how each job stands: `ends` has those that came out, `begun` the runs that are there."""

    study: Study
    jobs: tuple[StudyJob, ...]
    ends: dict[str, JobEnd]
    begun: frozenset[str]

    @cached_property
    def by_name(self) -> dict[str, StudyJob]:
        """Every job by its name."""
        return {job.name: job for job in self.jobs}

    def path(self, name: str) -> Path:
        """Where a job's run is."""
        return self.study.folder / RUNS / name

    def answer(self, name: str) -> UnitAnswer:
        """What a finished job answered."""
        return answer_in(RunStore(self.path(name)).book())

    def is_ready(self, job: StudyJob) -> bool:
        """Whether a job has not come out, and those that it waits for finished."""
        finished = all(self._state(name) == "finished" for name in job.after)
        return job.name not in self.ends and finished

    def is_lost(self, job: StudyJob) -> bool:
        """Whether a job can never begin, because one that it waits for failed or is lost."""
        return any(
            self._state(name) not in (None, "finished") or self.is_lost(self.by_name[name])
            for name in job.after
        )

    def _state(self, name: str) -> str | None:
        end = self.ends.get(name)
        return end.state if end is not None else None


def standing_of(study: Study) -> StudyState:
    """How a study stands now. A run that others finished, reply by reply, counts as soon as its ledger says so."""
    jobs = tuple(jobs_of(study))
    names = {job.name for job in jobs}
    ends: dict[str, JobEnd] = {}
    for file in sorted((study.folder / ENDS).glob("*.json")):
        if file.stem in names:
            ends[file.stem] = msgspec.json.decode(file.read_bytes(), type=JobEnd)
    begun = {head.parent.name for head in (study.folder / RUNS).glob("*/head")} & names
    for name in begun - set(ends):
        with suppress(LedgerError):  # the worker that plays it says what is wrong with it
            state = RunStore(study.folder / RUNS / name).state()
            if state.finished:
                reason = state.closing.reason if state.closing is not None else None
                ends[name] = JobEnd(name=name, state="finished", reason=reason)
    return StudyState(study, jobs, ends, frozenset(begun))


def task_for(found: StudyState, job: StudyJob, store: str = SHARED) -> Task:
    """What a worker needs to play a job whose turn it is."""
    study, arm = found.study, found.study.arm(job.unit.arm)
    judging = study.file.judging
    is_judge = job.part.startswith("judge-") and judging is not None
    seats = judging.seats if is_judge and judging is not None else arm.seats
    deliberation = deliberation_for(study, job, {name: found.answer(name) for name in job.after})
    return Task(
        name=job.name,
        directory=str((study.folder / RUNS).resolve()),
        toml=to_toml(deliberation),
        seats=seats.replace("{item}", job.unit.item),
        documents=study.documents[job.unit.item],
        experiments=not is_judge and arm.experiments == "on",
        instant=study.file.study.instant,
        store=store,
    )


def check_programs(study: Study, *, allowed: bool) -> None:
    """A program or an address that only the file names needs the person's word. Raises `MootError`."""
    rows = [(f"arm {arm.id}", arm.seats) for arm in study.file.arm]
    rows += [("[judging]", study.file.judging.seats)] if study.file.judging is not None else []
    for name, seats in rows:
        if needs_word(seats) and not allowed:
            what = f"{name} names a program to start, or an address to send briefs to: {seats}"
            raise MootError(
                "command_refused", what, "study.toml", "read it, and add --allow-commands if you mean it"
            )


def check_plan(study: Study) -> StudyPlan:
    """What was planned: written before the first run, and the same ever after. Raises `MootError` when it is not."""
    place = study.folder / PLANNED
    if place.is_file():
        planned = msgspec.json.decode(place.read_bytes(), type=StudyPlan)
        if planned.study_sha256 != study.sha256:
            what = f"study.toml is not what was planned on {planned.at[:10]}"
            fix = "take the change back, or begin another study in a directory of its own"
            raise MootError("plan_changed", what, str(study.folder), fix)
        return planned
    planned = StudyPlan(at=now(), study_sha256=study.sha256, keys_sha256=study.file.study.keys_sha256)
    _written(place, msgspec.json.format(msgspec.json.encode(planned), indent=1))
    return planned


def plan_of(study: Study) -> StudyPlan | None:
    """What was planned, if anything was begun."""
    place = study.folder / PLANNED
    return msgspec.json.decode(place.read_bytes(), type=StudyPlan) if place.is_file() else None


def conduct(
    study: Study,
    engine: Engine,
    tell: Callable[[StudyJob, JobEnd], object],
    *,
    store: str = SHARED,
    limit: int | None = None,
) -> StudyState:
    """Play what is open until every job came out, waits for somebody, or `limit` jobs were played.

    Raises `MootError` when another process conducts this study, or its plan has changed.
    """
    with _alone(study):
        check_plan(study)
        found = standing_of(study)
        waiting: set[str] = set()
        running: dict[str, StudyJob] = {}
        left = limit
        while True:
            for job in _next(found, waiting | set(running)):
                if len(running) >= engine.capacity or left == 0:
                    break
                engine.submit(task_for(found, job, store))
                running[job.name] = job
                left = None if left is None else left - 1
            if not running:
                return found
            played, archive = engine.next_done()
            job = running.pop(played.name)
            _kept(found, played, archive, store)
            if _came_out(played):
                found.ends[played.name] = played
            else:
                waiting.add(played.name)
            tell(job, played)


def _next(found: StudyState, taken: Iterable[str]) -> Iterator[StudyJob]:
    not_now = set(taken)
    return (job for job in found.jobs if job.name not in not_now and found.is_ready(job))


def _came_out(played: JobEnd) -> bool:
    return played.state in ENDED or (played.state == "stopped" and (played.reason or "").startswith("budget"))


def _kept(found: StudyState, played: JobEnd, archive: bytes, store: str) -> None:
    """Bring a run home from where it was played, and note how it came out."""
    path = found.path(played.name)
    if store != SHARED and not path.exists() and played.state not in ("busy", "broken"):
        unpacked(archive or fetched(store, played.name), path)
    if _came_out(played):
        _written(found.study.folder / ENDS / f"{played.name}.json", recorded(played))


def _written(place: Path, content: bytes) -> None:
    """Write a small file, whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(place)


@contextmanager
def _alone(study: Study) -> Generator[None]:
    """One process conducts a study at a time. Raises `MootError` when there is another one."""
    with open(study.folder / "lock", "w") as file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise usage(
                "another process conducts this study", "wait for it, or stop it", str(study.folder)
            ) from None
        yield
