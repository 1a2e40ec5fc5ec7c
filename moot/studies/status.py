"""How far a study is, from its runs."""

from __future__ import annotations

from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot.studies.conduct import StudyState, plan_of
from moot.studies.units import StudyJob
from moot.view.study import ArmStatus, StudyStatus


def status_of(found: StudyState) -> StudyStatus:
    """Every arm with what came out; judging stands as an arm of its own."""
    arms = [
        _arm(found, arm.id, [job for job in found.jobs if _name(job) == arm.id])
        for arm in found.study.file.arm
    ]
    if found.study.file.judging is not None:
        arms.append(_arm(found, "judging", [job for job in found.jobs if _name(job) == "judging"]))
    planned = plan_of(found.study)
    lost = sum(arm.lost for arm in arms)
    return StudyStatus(
        study=str(found.study.folder),
        question=found.study.file.study.question,
        planned_at=planned.at if planned is not None else None,
        runs=len(found.jobs),
        came_out=len(found.ends),
        arms=arms,
        state="done" if len(found.ends) + lost == len(found.jobs) else "open" if planned else "not_begun",
    )


def _name(job: StudyJob) -> str:
    return "judging" if job.part.startswith("judge-") else job.unit.arm


def _arm(found: StudyState, name: str, jobs: list[StudyJob]) -> ArmStatus:
    ends = [found.ends[job.name] for job in jobs if job.name in found.ends]
    finished = sum(end.state == "finished" for end in ends)
    return ArmStatus(
        arm=name,
        planned=len(jobs),
        finished=finished,
        failed=len(ends) - finished,
        waiting=sum(job.name in found.begun and job.name not in found.ends for job in jobs),
        lost=sum(job.name not in found.ends and found.is_lost(job) for job in jobs),
        replies=sum(_replies(found, job) for job in jobs if job.name in found.begun),
    )


def _replies(found: StudyState, job: StudyJob) -> int:
    try:
        return RunStore(found.path(job.name)).state().spend.calls
    except LedgerError:
        return 0
