"""Progress of a study, read from its runs: what has ended, what the rest may cost, and which steps are open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Final

from ledger.plain_text import counted
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot import version
from moot.app.opening import estimate_for
from moot.app.seat_specs import choose, may_cost
from moot.app.seats import Agreed
from moot.app.session import Session
from moot.environment import read_settings
from moot.errors import MootError
from moot.studies.conduct import RUNS, StudyState, plan_of
from moot.studies.definition import Study
from moot.studies.units import StudyJob, StudyUnit, deliberation_for, jobs_of
from moot.view.estimate import Estimate
from moot.view.study import ArmStatus, QueuedStep, StudyQueue, StudyStatus
from rounds.setup.opening import cast_roles, resolve


def status_of(state: StudyState) -> StudyStatus:
    """Return every arm with its ended jobs; judging is listed as an arm of its own."""
    arms = [
        _arm(state, arm.id, [job for job in state.jobs if _arm_of(job) == arm.id])
        for arm in state.study.file.arm
    ]
    if state.study.file.judging is not None:
        arms.append(_arm(state, "judging", [job for job in state.jobs if _arm_of(job) == "judging"]))
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


def _arm_of(job: StudyJob) -> str:
    return "judging" if job.is_judging else job.unit.arm


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


SMALL: Final = 20
"""Number of replies up to which a study of unknown price starts without asking."""


@dataclass(frozen=True, slots=True)
class StudyPrice:
    """Price range: `usd` (from, to) is None if a seat has no known price; `paid` if a reply may cost money."""

    runs: int
    replies: int
    usd: tuple[Decimal, Decimal] | None
    paid: bool

    def line(self) -> str:
        """Return the price in one line."""
        if not self.paid:
            dollars = "nothing to pay for"
        elif self.usd is None:
            dollars = "dollars unknown"
        else:
            dollars = f"{self.usd[0]:.2f} to {self.usd[1]:.2f} USD"
        runs, replies = counted(self.runs, "run"), counted(self.replies, "reply")
        return f"{runs} to play, at most {replies}, {dollars}"


def price_of(state: StudyState) -> StudyPrice:
    """Return the most that unfinished jobs may take; a run that is half done counts as a whole one."""
    study = state.study
    left = Counter(
        # Judging is counted apart, because its replies come from the judges' seats and not from the arm's.
        (job.unit.item, job.unit.arm, job.is_judging)
        for job in state.jobs
        if job.name not in state.ends
    )
    replies, low, high, is_known, paid = 0, Decimal(0), Decimal(0), True, False
    for (item, arm, is_judging), number in left.items():
        is_paid = may_cost(study.seats(arm, is_judging=is_judging))
        paid = paid or is_paid
        # A judging job is one reply of the judges' seats, whatever the arm of its unit costs.
        if is_judging:
            replies += number
            is_known = is_known and not is_paid
            continue
        # Estimated once per item and arm: repetitions and draws differ only in their seed.
        estimate = _estimate(study, item, arm)
        replies += number * estimate.replies_at_most
        if estimate.usd is None:
            is_known = is_known and not is_paid
        else:
            low += number * Decimal(estimate.usd.low)
            high += number * Decimal(estimate.usd.high)
    return StudyPrice(sum(left.values()), replies, (low, high) if is_known else None, paid)


def _estimate(study: Study, item: str, arm: str) -> Estimate:
    job = next(job for job in jobs_of(study) if job.unit == StudyUnit(item, arm, 1) and not job.after)
    deliberation = deliberation_for(study, job, {})
    name = f"item {item}, arm {arm}"
    specs = choose(cast_roles(deliberation, name), study.arm(arm).seats.replace("{item}", item), {}, {})
    opening = resolve(deliberation, study.documents[item], moot=version(), name=name, seats=specs)
    return estimate_for(opening, specs, name)


def agreed_to(price: StudyPrice, *, yes: bool, tell: Callable[[str], object], agreed: Agreed | None) -> None:
    """Print the price, and ask above the limit where a person can answer. Raises `MootError` after a no."""
    tell(f"{price.line()}\n")
    if price.usd is None:
        # Without prices only the number of replies tells how much is at stake.
        is_small = not price.paid or price.replies <= SMALL
    else:
        is_small = price.usd[1] <= read_settings().ask_above_usd
    if yes or is_small or agreed is None or agreed("", "Begin?"):
        return
    fix = "plan fewer items or repetitions, or set budgets; --yes begins without being asked"
    raise MootError("not_begun", "nothing was begun", "moot study run", fix)


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
        run = str(state.study.folder / RUNS / job.name)
        steps += [QueuedStep.from_parts(step, run=run, alike=alike) for step in session.next(role).steps]
    done = all(job.name in state.ends or state.is_lost(job) for job in state.jobs)
    return StudyQueue(study=str(state.study.folder), done=done, to_open=not_open, steps=steps)
