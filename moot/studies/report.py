"""Results of a study, from its runs, the right answers, and measures that a person took of its outputs."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from statistics import fmean
from typing import Final, TypeVar

from ledger.plain_text import counted
from ledger.state.book import grouped
from ledger.store.disk import read_plain
from ledger.store.failures import LedgerError
from moot.errors import usage
from moot.studies import statistics
from moot.studies.conduct import StudyState, plan_of
from moot.studies.definition import ArmRow
from moot.studies.units import JUDGED, StudyUnit, UnitAnswer, last_of, units_of, winner_of
from moot.view.study import (
    Against,
    ArmFound,
    Estimated,
    Measured,
    Preferred,
    ReliabilityBin,
    StudyReport,
)

_T = TypeVar("_T")
MEASURES: Final = "measures.csv"
MEASURES_BYTES_MAX: Final = 1 << 26
MEASURE_COLUMNS: Final = ("item", "arm", "repetition", "measure", "value")


@dataclass(frozen=True)
class StudyResults:
    """Answers of a study by unit, and in `parts` all runs of each unit."""

    state: StudyState
    keys: Mapping[str, str]
    answers: Mapping[StudyUnit, UnitAnswer]
    parts: Mapping[StudyUnit, list[UnitAnswer]]

    def of_arm(self, arm: str) -> dict[StudyUnit, UnitAnswer]:
        """Return the answers of an arm."""
        return {unit: answer for unit, answer in self.answers.items() if unit.arm == arm}

    def is_right(self, unit: StudyUnit) -> bool:
        """Return whether a unit's answer is the right option; no answer counts as wrong."""
        return self.answers[unit].chosen == self.keys[unit.item]

    def by_item(self, arm: str, value: Callable[[StudyUnit], float | None]) -> dict[str, float]:
        """Return item → the mean over the repetitions that have the value."""
        numbers = ((unit.item, value(unit)) for unit in self.of_arm(arm))
        return _by_item((item, number) for item, number in numbers if number is not None)

    def right_by_item(self, arm: str) -> dict[str, float]:
        """Return item → the share of an arm's repetitions that are right; items without a key are left out."""
        return self.by_item(arm, lambda unit: float(self.is_right(unit)) if unit.item in self.keys else None)


def report_of(state: StudyState, keys: Mapping[str, str]) -> StudyReport:
    """Return what is known now. Raises `MootError` for measures that cannot be read."""
    study = state.study
    answers = {unit: answer for unit in units_of(study) if (answer := _answer(state, last_of(study, unit)))}
    parts = grouped(
        (job.unit, answer)
        for job in state.jobs
        if not job.is_judging and (answer := _answer(state, job.name))
    )
    results = StudyResults(state, keys, answers, parts)
    planned = plan_of(study)
    arms = [_arm(results, arm) for arm in study.file.arm]
    against = _against(results)
    return StudyReport.from_parts(
        study.file.study,
        study=str(study.folder),
        planned_at=planned.at if planned else None,
        plan_sha256=planned.study_sha256 if planned else study.sha256,
        items=len(study.tables),
        runs=len(state.jobs),
        came_out=len(state.ends),
        keys=len(keys),
        arms=arms,
        against=against,
        reliability=_reliability(results),
        preferred=_preferred(state),
        measures=_measures(results),
        holds_not=list(_holds_not(results, arms, planned_sha=planned.study_sha256 if planned else None)),
    )


def _answer(state: StudyState, name: str) -> UnitAnswer | None:
    """Return the answer of a run that has finished or that its budget ended."""
    end = state.ends.get(name)
    if end is None or end.state not in ("finished", "stopped"):
        return None
    try:
        return state.answer(name)
    except (LedgerError, OSError):
        return None  # the run is damaged: `moot verify` says how, and the arm counts it as lost


def _arm(results: StudyResults, arm: ArmRow) -> ArmFound:
    answers, study = results.of_arm(arm.id), results.state.study
    parts = [results.parts.get(unit, []) for unit in answers]
    right_by_item = results.right_by_item(arm.id)
    right = sum(results.is_right(unit) for unit in answers if unit.item in results.keys)
    replies = [float(sum(part.replies for part in runs)) for runs in parts]
    dollars = [sum(part.usd for part in runs if part.usd is not None) for runs in parts]
    # One reply without a price would make the sum look cheaper than it was.
    is_priced = all(part.usd is not None for runs in parts for part in runs)
    tokens = [float(sum(part.tokens for part in runs)) for runs in parts]
    return ArmFound(
        arm=arm.id,
        what=arm.what or arm.protocol,
        answers=len(answers),
        planned=sum(map(study.repetitions, study.tables)),
        lost=sum(part.lost for runs in parts for part in runs),
        # No option counts as wrong, and is listed, so that a protocol gains nothing by not answering.
        unnamed=sum(answer.chosen is None for answer in answers.values()),
        right=_share(right_by_item) if right_by_item else None,
        brier=_brier(results, arm.id),
        replies=_mean(replies) or 0.0,
        words=_mean([float(sum(part.words for part in runs)) for runs in parts]) or 0.0,
        tokens=_mean(tokens) if any(tokens) else None,
        usd=_mean(dollars) if parts and is_priced else None,
        per_right=sum(replies) / right if right else None,
        agreement=statistics.agreement(_repeated(answers, lambda answer: answer.chosen)),
        noise=statistics.redraw_noise(_repeated(answers, lambda answer: answer.points)),
        experiments=sum(part.experiments for runs in parts for part in runs),
    )


def _share(by_item: Mapping[str, float]) -> Estimated:
    """Return the mean of the items with an interval: Wilson's if every item is right or wrong, else that of a mean."""
    values = list(by_item.values())
    # Means over repetitions are not 0 or 1, and Wilson's interval is for counts.
    if all(value in (0.0, 1.0) for value in values):
        interval = statistics.share_interval(round(sum(values)), len(values))
    else:
        interval = statistics.paired_interval(values, seed=0)
    return _estimated(interval, 0.0, 1.0)


def _brier(results: StudyResults, arm: str) -> float | None:
    def score(unit: StudyUnit) -> float | None:
        points = results.answers[unit].points
        return (
            statistics.brier(points, results.keys[unit.item])
            if points and unit.item in results.keys
            else None
        )

    return _mean(list(results.by_item(arm, score).values()))


def _repeated(
    answers: Mapping[StudyUnit, UnitAnswer], value: Callable[[UnitAnswer], _T | None]
) -> list[list[_T]]:
    """Return for each item the values of its repetitions, as far as they have one."""
    values = ((unit.item, value(answer)) for unit, answer in sorted(answers.items()))
    return list(grouped((item, present) for item, present in values if present is not None).values())


def _against(results: StudyResults) -> list[Against]:
    """Return each arm compared with the baseline, on the items that both have answered."""
    study = results.state.study
    baseline = study.file.study.baseline
    base = results.right_by_item(baseline)
    rows: dict[str, tuple[Estimated, int, int]] = {}
    for arm in study.file.arm:
        mine = results.right_by_item(arm.id)
        # Paired: an item that only one of the arms has answered says nothing about the difference.
        items = sorted(set(mine) & set(base))
        if arm.id == baseline or not items:
            continue
        # McNemar's test counts items, so only the first repetition enters it; the interval uses all of them.
        only = Counter(
            _alone(results, StudyUnit(item, arm.id, 1), StudyUnit(item, baseline, 1)) for item in items
        )
        rows[arm.id] = (
            _estimated(_difference(results, items, mine, base), -1.0, 1.0),
            only["arm"],
            only["baseline"],
        )
    # All comparisons enter Holm's correction, also those that look hopeless.
    p_values = {arm: statistics.exact_mcnemar(first, second) for arm, (_, first, second) in rows.items()}
    adjusted = statistics.holm(p_values)
    return [
        Against(
            arm=arm, difference=difference, only_arm=first, only_baseline=second, p=p_values[arm],
            p_holm=adjusted[arm],
        )
        for arm, (difference, first, second) in rows.items()
    ]  # fmt: skip


def _alone(results: StudyResults, arm: StudyUnit, baseline: StudyUnit) -> str:
    """Return which of two units is right alone."""
    if not {arm, baseline} <= set(results.answers):
        return ""
    mine, other = results.is_right(arm), results.is_right(baseline)
    return "" if mine == other else "arm" if mine else "baseline"


def _difference(
    results: StudyResults, items: Sequence[str], mine: Mapping[str, float], base: Mapping[str, float]
) -> statistics.Interval:
    seed = results.state.study.file.study.seed
    return statistics.paired_interval([mine[item] - base[item] for item in items], seed=seed)


def _estimated(interval: statistics.Interval, least: float = -inf, most: float = inf) -> Estimated:
    """Return an interval as the report has it; limits of means may pass the ends of the scale, and are cut to them."""
    low = None if interval.low is None else max(least, interval.low)
    high = None if interval.high is None else min(most, interval.high)
    return Estimated(value=interval.mean, low=low, high=high, n=interval.n)


def _reliability(results: StudyResults) -> list[ReliabilityBin]:
    """Return forecasts of every arm in bins, with the share of right options in each."""
    rows: list[ReliabilityBin] = []
    for arm in results.state.study.file.arm:
        pairs = [
            (points / 100, option == results.keys[unit.item])
            for unit, answer in results.of_arm(arm.id).items()
            if answer.points and unit.item in results.keys
            for option, points in answer.points.items()
        ]
        rows += [
            ReliabilityBin(
                arm=arm.id, low=100 * row.low, high=100 * row.high, n=row.n, mean=100 * row.mean_belief,
                right=row.share_right,
            )
            for row in statistics.reliability(pairs)
        ]  # fmt: skip
    return rows


def _preferred(state: StudyState) -> list[Preferred]:
    """Return the judges' preferences; a pair counts once both orders were judged."""
    votes = grouped(
        (job.unit, winner_of(answer, job.part.removeprefix(JUDGED)) or "nobody")
        for job in state.jobs
        if job.is_judging and (answer := _answer(state, job.name))
    )
    rows: list[Preferred] = []
    for arm in state.study.file.arm:
        pairs = [tuple(pair) for unit, pair in votes.items() if unit.arm == arm.id and len(pair) == 2]
        # A judge who prefers whatever is shown first contradicts itself in the other order; such a pair is torn.
        alike = Counter(pair[0] for pair in pairs if pair[0] == pair[1])
        if pairs:
            rows.append(
                Preferred(
                    arm=arm.id, pairs=len(pairs), arm_preferred=alike["arm"], baseline_preferred=alike["baseline"],
                    neither=alike["neither"] + alike["nobody"], torn=len(pairs) - sum(alike.values()),
                )
            )  # fmt: skip
    return rows


def _measures(results: StudyResults) -> list[Measured]:
    """Return counts of the runs, and rows of measures.csv: one value of one answer, such as a reader's score."""
    place = results.state.study.folder / MEASURES
    values = [
        (measure, unit.item, unit.arm, value)
        for unit, answer in results.answers.items()
        for measure, value in answer.counts.items()
    ]
    values += _read_measures(place) if place.is_file() else []
    arms = [arm.id for arm in results.state.study.file.arm]
    baseline = results.state.study.file.study.baseline
    rows: list[Measured] = []
    # In the order of their first row, so that the person's own table sets the order.
    for measure in dict.fromkeys(name for name, *_ in values):
        by_arm = {
            arm: _by_item((item, value) for name, item, of, value in values if (name, of) == (measure, arm))
            for arm in arms
        }
        for arm, items in by_arm.items():
            both = sorted(set(items) & set(by_arm.get(baseline, {})))
            difference = (
                _estimated(_difference(results, both, items, by_arm[baseline]))
                if arm != baseline and both
                else None
            )
            number = sum(row[0] == measure and row[2] == arm for row in values)
            if items:
                mean = fmean(items.values())
                rows.append(Measured(arm=arm, measure=measure, mean=mean, n=number, difference=difference))
    return rows


def _by_item(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return item → the mean of its values."""
    return {item: fmean(numbers) for item, numbers in grouped(values).items()}


def _read_measures(place: Path) -> list[tuple[str, str, str, float]]:
    """Return rows of measure, item, arm and value. Raises `MootError` with the line."""
    text = read_plain(place, MEASURES_BYTES_MAX).decode()
    reader = csv.DictReader(io.StringIO(text, newline=""))
    rows: list[tuple[str, str, str, float]] = []
    try:
        # Checked at once: a missing column would otherwise fail at the first row, and without its name.
        if tuple(reader.fieldnames or ()) != MEASURE_COLUMNS:
            what = f"the columns are {', '.join(reader.fieldnames or ('none',))}"
            raise usage(what, f"write {','.join(MEASURE_COLUMNS)}", str(place))
        for row in reader:
            value = float(row["value"])
            # `float` reads "nan" and "inf", which would spoil every mean.
            if not isfinite(value):
                raise ValueError
            rows.append((str(row["measure"]), str(row["item"]), str(row["arm"]), value))
    except (TypeError, ValueError):
        fix = "write a number as value"
        raise usage("no number", fix, f"{place}:{reader.line_num}") from None
    except csv.Error as error:
        raise usage(f"no table: {error}", "write it as CSV", f"{place}:{reader.line_num}") from None
    return rows


def _holds_not(results: StudyResults, arms: Sequence[ArmFound], planned_sha: str | None) -> Iterable[str]:
    """Yield what a reader has to know before believing a figure."""
    state, study = results.state, results.state.study
    left = len(state.jobs) - len(state.ends)
    if left:
        yield f"{counted(left, 'run')} did not come out yet: every figure may still change."
    if planned_sha is not None and planned_sha != study.sha256:
        yield "study.toml is not the file that was planned: it was changed after the first run."
    if not results.keys:
        yield "No right answers are known here: `--keys FILE` counts them."
    elif study.file.study.keys_sha256 is None:
        yield "The right answers were not fixed beforehand: the study has no keys_sha256."
    if (missing := len(study.tables) - len(results.keys)) and results.keys:
        yield f"{counted(missing, 'item')} without a right answer: left out wherever right answers are counted."
    if results.keys:
        # Always said: a study that is too small finds no difference, whatever is true.
        yield _what_could_show(len(results.keys))
    failed = sum(end.state != "finished" for end in state.ends.values())
    if failed:
        runs = counted(failed, "run")
        yield f"{runs} failed or ended at the budget; an answer that is missing is left out of its pair."
    if results.keys and (unnamed := sum(arm.unnamed for arm in arms)):
        yield f"{counted(unnamed, 'answer')} named no option and {'counts' if unnamed == 1 else 'count'} as wrong."
    if study.file.study.equal_cost == "stated" and arms:
        least, most = min(arm.replies for arm in arms), max(arm.replies for arm in arms)
        # Within 5%, lost replies alone can explain a difference in cost.
        if most > 1.05 * least:
            yield f"The arms did not cost the same: {least:.1f} to {most:.1f} replies an answer."
    if len(arms) > 2:
        adjusted = (
            "p (Holm) is adjusted for it, the intervals are not"
            if results.keys
            else "no interval is adjusted for it"
        )
        yield f"{counted(len(arms) - 1, 'comparison')} were made: {adjusted}."


def _what_could_show(items: int) -> str:
    least = statistics.smallest_difference(items)
    if least is None:
        return f"{counted(items, 'item')} can show no difference at all at 80 % power (p ≤ .05, McNemar)."
    return (
        f"{counted(items, 'item')} show a difference of {100 * least:.0f} points or more at 80 % power, in the kindest "
        "case; that a smaller one does not show says nothing."
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
