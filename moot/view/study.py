"""The state of a study: its arms with their results, and the open steps over all its runs."""

from __future__ import annotations

from typing import Literal

from ledger.plain_text import counted
from ledger.result import Result
from moot.view.text import joined

SHOWN = 20


class ArmStatus(Result, frozen=True):
    """Runs of one arm. `waiting` have begun; `lost` can never begin, because a run that they wait for failed."""

    arm: str
    planned: int
    finished: int
    failed: int
    waiting: int
    lost: int
    replies: int


class StudyStatus(Result, frozen=True):
    """How a study stands. `planned_at`: when the first run was opened; null before."""

    study: str
    question: str
    planned_at: str | None
    runs: int
    came_out: int
    arms: list[ArmStatus]
    state: Literal["not_begun", "open", "done"]


class QueuedStep(Result, frozen=True):
    """An open step of one run. Runs with the same `alike` ask the same question."""

    run: str
    alike: str
    step: str
    role: str
    round: int


class StudyQueue(Result, frozen=True):
    """Every open step of a study. `to_open`: runs whose turn it is and that `moot study run` has not opened yet."""

    study: str
    done: bool
    to_open: int
    steps: list[QueuedStep]


def status_text(status: StudyStatus) -> str:
    """Return what `moot study status` prints: the progress, then one line per arm."""
    widest = max(len(arm.arm) for arm in status.arms)
    lines = [
        status.question,
        f"{status.came_out} of {counted(status.runs, 'run')} came out"
        + (f"; planned on {status.planned_at[:10]}" if status.planned_at else "; nothing is begun"),
    ]
    for arm in status.arms:
        more = [f"{number} {what}" for what, number in _rest(arm) if number]
        rest = f", {', '.join(more)}" if more else ""
        lines.append(
            f"  {arm.arm:<{widest}}  {arm.finished} of {arm.planned} finished{rest}; {counted(arm.replies, 'reply')}"
        )
    ways = {
        "not_begun": f"begin:  moot study run {status.study}",
        "open": f"go on:  moot study run {status.study}; where seats are host,"
        f" moot next {status.study} lists what waits",
        "done": f"read:   moot study report {status.study}",
    }
    return joined([*lines, ways[status.state]])


def _rest(arm: ArmStatus) -> list[tuple[str, int]]:
    return [("failed", arm.failed), ("begun", arm.waiting), ("lost", arm.lost)]


def queue_text(queue: StudyQueue) -> str:
    """Return what `moot next STUDY` prints: the open steps, and how to take one."""
    if queue.done:
        return f"every run of {queue.study} came out; see `moot study report {queue.study}`\n"
    lines = [
        f"{counted(len(queue.steps), 'step')} open in {counted(len({step.run for step in queue.steps}), 'run')}"
    ]
    lines += [f"  {step.run}  {step.step}" for step in queue.steps[:SHOWN]]
    if len(queue.steps) > SHOWN:
        lines.append(f"  … and {len(queue.steps) - SHOWN} more: --json has them all")
    if queue.steps:
        first = queue.steps[0]
        lines.append(f"take one:   moot next {first.run} {first.step}")
        lines.append(f"hand it in: moot submit {first.run} {first.step} reply.json")
    # Only `moot study run` opens runs; this verb lists steps and starts nothing.
    if queue.to_open or not queue.steps:
        lines.append(f"open what comes next: moot study run {queue.study}")
    return joined(lines)


class StudyDraft(Result, frozen=True):
    """A study file that was written. `shows`: number of items → the smallest difference in the share of right answers
    that they show at 80 % power (McNemar, p ≤ .05, in the kindest case); null where none can."""

    study: str
    items: int
    shows: dict[str, float | None]


def draft_text(draft: StudyDraft) -> str:
    """Return what `moot study new` prints: the path, the differences it can detect, and how to go on."""
    lines = [f"{draft.study}/study.toml has {counted(draft.items, 'item')}"]
    for number, share in draft.shows.items():
        items = counted(int(number), "item")
        if share is None:
            lines.append(f"  {items}: no difference can show")
        else:
            lines.append(f"  {items}: differences of {100 * share:.0f} points of right answers or more show")
    lines.append("  (80 % power, McNemar, p of at most .05, in the kindest case)")
    lines.append(f"change it, then: moot study run {draft.study}")
    return joined(lines)
