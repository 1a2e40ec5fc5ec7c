"""All open steps of a study: one queue from which agents take prompts until the whole study is answered.

A step names its run but neither item nor arm, so that a seat does not know what is compared. `alike` marks runs that
ask the same question, so that no agent answers one question twice.
"""

from __future__ import annotations

from hashlib import sha256

from moot.app.session import Session
from moot.studies.conduct import RUNS, StudyState
from moot.view.study import QueuedStep, StudyQueue


def queue_of(state: StudyState, role: str | None = None) -> StudyQueue:
    """Return the open steps of every run that waits for replies, in the order in which jobs are started."""
    steps: list[QueuedStep] = []
    not_open = 0
    for job in state.jobs:
        if job.name in state.ends:
            continue
        if job.name not in state.begun:
            # Counted, because a run has to be opened by `moot study run` before agents can answer it.
            not_open += state.is_ready(job)
            continue
        session = Session(state.path(job.name))
        # Hashed with the seed: the mark groups runs without revealing the item's name.
        alike = sha256(f"{state.study.file.study.seed}|{job.unit.item}".encode()).hexdigest()[:8]
        for step in session.next(role).steps:
            run = str(state.study.folder / RUNS / job.name)
            steps.append(QueuedStep(run=run, alike=alike, step=step.step, role=step.role, round=step.round))
    done = all(job.name in state.ends or state.is_lost(job) for job in state.jobs)
    return StudyQueue(study=str(state.study.folder), done=done, to_open=not_open, steps=steps)
