"""Progress of a study, read from its runs."""

from __future__ import annotations

from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot.studies.conduct import StudyState, plan_of
from moot.studies.units import StudyJob
from moot.view.study import ArmStatus, StudyStatus


def status_of(state: StudyState) -> StudyStatus:
    """Return every arm with its ended jobs; judging is listed as an arm of its own."""
    arms = [
        _arm(state, arm.id, [job for job in state.jobs if _name(job) == arm.id])
        for arm in state.study.file.arm
    ]
    if state.study.file.judging is not None:
        arms.append(_arm(state, "judging", [job for job in state.jobs if _name(job) == "judging"]))
    planned = plan_of(state.study)
    # Lost jobs can never end, so a study is done without them.
    lost = sum(arm.lost for arm in arms)
    return StudyStatus(
        study=str(state.study.folder),
        question=state.study.file.study.question,
        planned_at=planned.at if planned is not None else None,
        runs=len(state.jobs),
        came_out=len(state.ends),
        arms=arms,
        state="done" if len(state.ends) + lost == len(state.jobs) else "open" if planned else "not_begun",
    )


def _name(job: StudyJob) -> str:
    return "judging" if job.part.startswith("judge-") else job.unit.arm


def _arm(state: StudyState, name: str, jobs: list[StudyJob]) -> ArmStatus:
    ends = [state.ends[job.name] for job in jobs if job.name in state.ends]
    finished = sum(end.state == "finished" for end in ends)
    return ArmStatus(
        arm=name,
        planned=len(jobs),
        finished=finished,
        failed=len(ends) - finished,
        waiting=sum(job.name in state.begun and job.name not in state.ends for job in jobs),
        lost=sum(job.name not in state.ends and state.is_lost(job) for job in jobs),
        replies=sum(_replies(state, job) for job in jobs if job.name in state.begun),
    )


def _replies(state: StudyState, job: StudyJob) -> int:
    try:
        return RunStore(state.path(job.name)).state().spend.calls
    except LedgerError:
        return 0
