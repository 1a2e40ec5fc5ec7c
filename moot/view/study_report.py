"""The report of a study: its plan, one row per arm, each arm against the baseline, and known limitations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ledger.interchange.markdown import inline
from ledger.plain_text import counted
from ledger.result import Result
from moot.view.text import joined


class Estimated(Result, frozen=True):
    """A mean or a share with its 95 % limits, which are null where too little is known; `n`: items."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class ArmFound(Result, frozen=True):
    """One arm. `right`: the share of items, repetitions averaged. Means are those of one answer: all runs that it took.
    `brier` and `beliefs` only where runs have beliefs; `per_right`: replies for one right answer."""

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
    """An arm against the baseline on the items that both answered. `only_arm`, `only_baseline`: items that one alone
    has right in its first repetition; `p`: McNemar's exact test of these, `p_holm` adjusted for the number of arms."""

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
    """What a study found. `planned_at`, `plan_sha256`: the study file before the first run. `holds_not`: what a reader
    has to know before believing a figure."""

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
    return " ".join(_against_told(comparison, report.baseline) for comparison in report.against)


def _against_told(comparison: Against, baseline: str) -> str:
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


ARM_HEADS = (
    "arm", "answers", "right", "95 %", "Brier", "replies", "words", "tokens", "USD",
    "replies a right answer", "agreement",
)  # fmt: skip


def arm_rows(report: StudyReport) -> list[list[str]]:
    """Return one row per arm, with cells as `ARM_HEADS` names them."""
    return [
        [
            arm.arm, f"{arm.answers} of {arm.planned}", _percent(arm.right.value if arm.right else None),
            _limits(arm.right, 100), _figure(arm.brier, 2), _figure(arm.replies, 1), _figure(arm.words, 0),
            _figure(arm.tokens, 0), _figure(arm.usd, 3), _figure(arm.per_right, 1), _percent(arm.agreement),
        ]
        for arm in report.arms
    ]  # fmt: skip


AGAINST_HEADS = (
    "arm",
    "items",
    "difference, points",
    "95 %",
    "right alone",
    "baseline alone",
    "p",
    "p (Holm)",
)


def against_rows(report: StudyReport) -> list[list[str]]:
    """Return one row per arm against the baseline."""
    return [
        [
            comparison.arm, str(comparison.difference.n), _signed(comparison.difference.value),
            _limits(comparison.difference, 100, signed=True), str(comparison.only_arm),
            str(comparison.only_baseline), f"{comparison.p:.3f}", f"{comparison.p_holm:.3f}",
        ]
        for comparison in report.against
    ]  # fmt: skip


RELIABILITY_HEADS = ("arm", "points", "n", "mean", "came true, %")


def reliability_rows(report: StudyReport) -> list[list[str]]:
    """Return one row per bin of forecasts."""
    return [
        [
            bin_.arm,
            f"{bin_.low:.0f}–{bin_.high:.0f}",
            str(bin_.n),
            f"{bin_.mean:.0f}",
            f"{100 * bin_.right:.0f}",
        ]
        for bin_ in report.reliability
    ]


PREFERRED_HEADS = ("arm", "pairs", "arm preferred", "baseline preferred", "neither", "order decided")


def preferred_rows(report: StudyReport) -> list[list[str]]:
    """Return one row per arm that judges compared with the baseline."""
    return [
        [
            arm.arm,
            *(str(n) for n in (arm.pairs, arm.arm_preferred, arm.baseline_preferred, arm.neither, arm.torn)),
        ]
        for arm in report.preferred
    ]


MEASURE_HEADS = ("measure", "arm", "n", "mean", "difference", "95 %")


def measure_rows(report: StudyReport) -> list[list[str]]:
    """Return one row per measure in each arm."""
    return [
        [
            measure.measure, measure.arm, str(measure.n), f"{measure.mean:.2f}",
            "–" if measure.difference is None else _figure(measure.difference.value, 2),
            "–" if measure.difference is None else _limits(measure.difference, 1, signed=True),
        ]
        for measure in report.measures
    ]  # fmt: skip


Section = tuple[str, Sequence[str], list[list[str]]]


def sections_of(report: StudyReport) -> list[Section]:
    """Return the tables that have rows: title, heads, rows."""
    every: list[Section] = [
        ("Arms", ARM_HEADS, arm_rows(report)),
        (f"Against {report.baseline}, paired by item", AGAINST_HEADS, against_rows(report)),
        ("Beliefs beside what came true", RELIABILITY_HEADS, reliability_rows(report)),
        ("Judges who did not know the arms", PREFERRED_HEADS, preferred_rows(report)),
        ("Other measures", MEASURE_HEADS, measure_rows(report)),
    ]
    return [(title, *_without_empty(heads, rows)) for title, heads, rows in every if rows]


def _without_empty(heads: Sequence[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows without columns that are empty in every row."""
    # The dash is this module's sign for an unknown figure.
    used = [n for n in range(len(heads)) if any(row[n] != "–" for row in rows)]
    return [heads[n] for n in used], [[row[n] for n in used] for row in rows]


def planned_told(report: StudyReport) -> str:
    """Return what was planned, when, and the hash that proves it."""
    # The date shows that the plan came before the results; the hash shows that it is the same plan.
    when = f" on {report.planned_at[:10]}, before the first run" if report.planned_at else "; no run is begun"
    words = report.planned or "nothing was written down of what is looked at first"
    return f"Planned{when} (study.toml, SHA-256 {report.plan_sha256[:12]}…): {words}"


def so_far_told(report: StudyReport) -> str:
    """Return how much of the study is done."""
    arms = counted(len(report.arms), "arm")
    return f"{counted(report.items, 'item')}, {arms}; {report.came_out} of {counted(report.runs, 'run')} came out."


def report_markdown(report: StudyReport) -> str:
    """Return the page of `moot study report --md`."""
    return joined(_markdown(report))


def _markdown(report: StudyReport) -> Iterator[str]:
    yield f"# {inline(report.question)}"
    yield ""
    yield inline(answer_of(report))
    yield ""
    yield f"{inline(planned_told(report))} {so_far_told(report)}"
    for title, heads, rows in sections_of(report):
        yield from ("", f"## {title}", "", f"| {' | '.join(heads)} |")
        yield "| --- |" + " ---: |" * (len(heads) - 1)
        yield from (f"| {' | '.join(map(inline, row))} |" for row in rows)
    yield from ("", "## What does not hold", "")
    yield from (f"- {inline(caveat)}" for caveat in report.holds_not or ["nothing that is known"])


def report_text(report: StudyReport) -> str:
    """Return what `moot study report` prints."""
    lines = [report.question, answer_of(report), "", planned_told(report), so_far_told(report)]
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


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _figure(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:,.{places}f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.0f}"


def _limits(estimate: Estimated | None, factor: int, *, signed: bool = False) -> str:
    if estimate is None or estimate.low is None or estimate.high is None:
        return "–"
    # Shares are shown as whole points, other measures with two digits.
    sign, places = ("+" if signed else ""), (0 if factor == 100 else 2)
    return f"{factor * estimate.low:{sign}.{places}f} to {factor * estimate.high:{sign}.{places}f}"
