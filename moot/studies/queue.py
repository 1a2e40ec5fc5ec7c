"""Every open step of a study, over all its runs: one queue from which agents take briefs and fill a whole study.

A step names its run and nothing of item or arm: who answers does not know what is compared. `alike` says which runs ask
the same question, so that nobody is given one question twice.
"""

from __future__ import annotations

from hashlib import sha256

from moot.app.session import Session
from moot.studies.conduct import RUNS, StudyState
from moot.view.study import QueuedStep, StudyQueue


def queue_of(found: StudyState, role: str | None = None) -> StudyQueue:
    """The open steps of every run that waits for replies, in the order in which jobs are begun."""
    steps: list[QueuedStep] = []
    not_open = 0
    for job in found.jobs:
        if job.name in found.ends:
            continue
        if job.name not in found.begun:
            not_open += found.is_ready(job)
            continue
        session = Session(found.path(job.name))
        alike = sha256(f"{found.study.file.study.seed}|{job.unit.item}".encode()).hexdigest()[:8]
        for step in session.next(role).steps:
            run = str(found.study.folder / RUNS / job.name)
            steps.append(QueuedStep(run=run, alike=alike, step=step.step, role=step.role, round=step.round))
    done = all(job.name in found.ends or found.is_lost(job) for job in found.jobs)
    return StudyQueue(study=str(found.study.folder), done=done, to_open=not_open, steps=steps)
