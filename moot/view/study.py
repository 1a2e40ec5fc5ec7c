"""A study: its state and open steps, the draft of a new one, and its report.

The report has the plan, one row per arm, each arm against the baseline, and known limitations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

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
        rest = (("failed", arm.failed), ("begun", arm.waiting), ("lost", arm.lost))
        more = "".join(f", {number} {what}" for what, number in rest if number)
        lines.append(
            f"  {arm.arm:<{widest}}  {arm.finished} of {arm.planned} finished{more}; {counted(arm.replies, 'reply')}"
        )
    ways = {
        "not_begun": f"begin:  moot study run {status.study}",
        "open": f"go on:  moot study run {status.study}; where seats are host,"
        f" moot next {status.study} lists what waits",
        "done": f"read:   moot study report {status.study}",
    }
    return joined([*lines, ways[status.state]])


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
    """A study file that was written.

    `shows`: number of items → the smallest difference in the share of right answers that they show at 80 % power
    (McNemar, p ≤ .05, in the kindest case); null where none can.
    """

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


class Estimated(Result, frozen=True):
    """A mean or a share with its 95 % limits, which are null where too little is known; `n`: items."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class ArmFound(Result, frozen=True):
    """One arm.

    `right`: the share of items, repetitions averaged. Means are those of one answer: all runs that it took. `brier`
    and `beliefs` only where runs have beliefs; `per_right`: replies for one right answer.
    """

    arm: str
    what: str
    answers: int
    planned: int
    lost: int
    unnamed: int
    right: Estimated | None
    brier: float | None
    replies: float
    words: float
    tokens: float | None
    usd: float | None
    per_right: float | None
    agreement: float | None
    noise: float | None
    experiments: int


class Against(Result, frozen=True):
    """An arm against the baseline on the items that both answered.

    `only_arm`, `only_baseline`: items that one alone has right in its first repetition; `p`: McNemar's exact test
    of these, `p_holm` adjusted for the number of arms.
    """

    arm: str
    difference: Estimated
    only_arm: int
    only_baseline: int
    p: float
    p_holm: float


class ReliabilityBin(Result, frozen=True):
    """Beliefs between `low` and `high` (of 100 points) in one arm, and how often what they were about was so."""

    arm: str
    low: float
    high: float
    n: int
    mean: float
    right: float


class Preferred(Result, frozen=True):
    """Judges who saw an arm's answer beside the baseline's, in both orders. `torn`: the order decided."""

    arm: str
    pairs: int
    arm_preferred: int
    baseline_preferred: int
    neither: int
    torn: int


class Measured(Result, frozen=True):
    """A measure from measures.csv: its mean in an arm over `n` values, and the difference to the baseline by item."""

    arm: str
    measure: str
    mean: float
    n: int
    difference: Estimated | None


class StudyReport(Result, frozen=True):
    """What a study found.

    `planned_at`, `plan_sha256`: the study file before the first run. `holds_not`: what a reader has to know before
    believing a figure.
    """

    study: str
    question: str
    planned: str | None
    planned_at: str | None
    plan_sha256: str
    baseline: str
    items: int
    runs: int
    came_out: int
    keys: int
    arms: list[ArmFound]
    against: list[Against]
    reliability: list[ReliabilityBin]
    preferred: list[Preferred]
    measures: list[Measured]
    holds_not: list[str]


def answer_of(report: StudyReport) -> str:
    """Return one sentence per arm against the baseline; no arm is selected by its result."""
    if not report.against:
        # Without right answers arms can only be compared by judges and measures.
        if not report.keys:
            return "No arm can be compared: no right answers are known here."
        return "No arm can be compared yet: there is no item that both it and the baseline have answered."
    return " ".join(_against_text(comparison, report.baseline) for comparison in report.against)


def _against_text(comparison: Against, baseline: str) -> str:
    value, low, high = comparison.difference.value, comparison.difference.low, comparison.difference.high
    points = f"{100 * (value or 0):+.0f} points of right answers against {baseline}"
    items = counted(comparison.difference.n, "item")
    # With too few items an interval would suggest a precision that is not there.
    if low is None or high is None:
        return f"{comparison.arm}: {points} on {items}; too little is known for an interval."
    shows = "the interval leaves zero out" if low > 0 or high < 0 else "the interval includes zero"
    return (
        f"{comparison.arm}: {points} on {items} (95 % from {100 * low:+.0f} to {100 * high:+.0f}): {shows}."
    )


COLUMNS: Final[Mapping[str, tuple[tuple[str, Callable[[Any], str]], ...]]] = {
    "arms": (
        ("arm", lambda arm: arm.arm),
        ("answers", lambda arm: f"{arm.answers} of {arm.planned}"),
        ("right", lambda arm: _percent(arm.right.value if arm.right else None)),
        ("95 %", lambda arm: _limits(arm.right, 100)),
        ("Brier", lambda arm: _figure(arm.brier, 2)),
        ("replies", lambda arm: _figure(arm.replies, 1)),
        ("words", lambda arm: _figure(arm.words, 0)),
        ("tokens", lambda arm: _figure(arm.tokens, 0)),
        ("USD", lambda arm: _figure(arm.usd, 3)),
        ("replies a right answer", lambda arm: _figure(arm.per_right, 1)),
        ("agreement", lambda arm: _percent(arm.agreement)),
    ),
    "against": (
        ("arm", lambda against: against.arm),
        ("items", lambda against: str(against.difference.n)),
        ("difference, points", lambda against: _percent(against.difference.value, "+.0f")),
        ("95 %", lambda against: _limits(against.difference, 100, signed=True)),
        ("right alone", lambda against: str(against.only_arm)),
        ("baseline alone", lambda against: str(against.only_baseline)),
        ("p", lambda against: f"{against.p:.3f}"),
        ("p (Holm)", lambda against: f"{against.p_holm:.3f}"),
    ),
    "reliability": (
        ("arm", lambda bin_: bin_.arm),
        ("points", lambda bin_: f"{bin_.low:.0f}–{bin_.high:.0f}"),
        ("n", lambda bin_: str(bin_.n)),
        ("mean", lambda bin_: f"{bin_.mean:.0f}"),
        ("came true, %", lambda bin_: f"{100 * bin_.right:.0f}"),
    ),
    "preferred": (
        ("arm", lambda arm: arm.arm),
        ("pairs", lambda arm: str(arm.pairs)),
        ("arm preferred", lambda arm: str(arm.arm_preferred)),
        ("baseline preferred", lambda arm: str(arm.baseline_preferred)),
        ("neither", lambda arm: str(arm.neither)),
        ("order decided", lambda arm: str(arm.torn)),
    ),
    "measures": (
        ("measure", lambda measure: measure.measure),
        ("arm", lambda measure: measure.arm),
        ("n", lambda measure: str(measure.n)),
        ("mean", lambda measure: f"{measure.mean:.2f}"),
        ("difference", lambda measure: _figure(measure.difference and measure.difference.value, 2)),
        ("95 %", lambda measure: _limits(measure.difference, 1, signed=True)),
    ),
}
"""Field of the report → the columns of its table: head, and the cell of a row."""
TITLES: Final = {
    "arms": "Arms",
    "against": "Against {baseline}, paired by item",
    "reliability": "Beliefs beside what came true",
    "preferred": "Judges who did not know the arms",
    "measures": "Other measures",
}


class StudyTable(NamedTuple):
    """A table of the report, without columns that are empty in every row."""

    title: str
    heads: list[str]
    rows: list[list[str]]


def sections_of(report: StudyReport) -> list[StudyTable]:
    """Return the tables that have rows."""
    sections: list[StudyTable] = []
    for name, title in TITLES.items():
        columns = [(head, [cell(row) for row in getattr(report, name)]) for head, cell in COLUMNS[name]]
        # The dash is this module's sign for an unknown figure.
        used = [(head, cells) for head, cells in columns if any(cell != "–" for cell in cells)]
        if used:
            rows = [list(row) for row in zip(*(cells for _, cells in used), strict=True)]
            sections.append(
                StudyTable(title.format(baseline=report.baseline), [head for head, _ in used], rows)
            )
    return sections


def planned_text(report: StudyReport) -> str:
    """Return what was planned, when, and the hash that proves it."""
    # The date shows that the plan came before the results; the hash shows that it is the same plan.
    when = f" on {report.planned_at[:10]}, before the first run" if report.planned_at else "; no run is begun"
    words = report.planned or "nothing was written down of what is looked at first"
    return f"Planned{when} (study.toml, SHA-256 {report.plan_sha256[:12]}…): {words}"


def progress_text(report: StudyReport) -> str:
    """Return how much of the study is done."""
    arms = counted(len(report.arms), "arm")
    return f"{counted(report.items, 'item')}, {arms}; {report.came_out} of {counted(report.runs, 'run')} came out."


def report_text(report: StudyReport) -> str:
    """Return what `moot study report` prints."""
    lines = [report.question, answer_of(report), "", planned_text(report), progress_text(report)]
    for title, heads, rows in sections_of(report):
        cells = [list(heads), *rows]
        widths = [max(len(row[n]) for row in cells) for n in range(len(heads))]
        lines += ["", title]
        for row in cells:
            parts = [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
            lines.append(f"  {'  '.join(parts)}".rstrip())
    lines += [
        "",
        "What does not hold",
        *(f"  - {caveat}" for caveat in report.holds_not or ["nothing that is known"]),
    ]
    return joined(lines)


def _percent(value: float | None, form: str = ".0f") -> str:
    # A difference is in points and has a sign.
    return "–" if value is None else f"{100 * value:{form}}{'' if '+' in form else ' %'}"


def _figure(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:,.{places}f}"


def _limits(estimate: Estimated | None, factor: int, *, signed: bool = False) -> str:
    if estimate is None or estimate.low is None or estimate.high is None:
        return "–"
    # Shares are shown as whole points, other measures with two digits.
    sign, places = ("+" if signed else ""), (0 if factor == 100 else 2)
    return f"{factor * estimate.low:{sign}.{places}f} to {factor * estimate.high:{sign}.{places}f}"
