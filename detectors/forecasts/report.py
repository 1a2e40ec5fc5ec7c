"""Report of a table: forecasts, cruxes and status as `moot signals --json` prints them.

Figures are rounded here and nowhere else: two decimals, half-even, from exact values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from detectors.forecasts.cruxes import Crux, ranked
from detectors.forecasts.points import GroupForecast, group_forecast
from detectors.forecasts.standing import ForecastStanding, ForecastTable, standing_of, without_each
from detectors.forecasts.unseen import Unseen
from detectors.parameters import Level
from detectors.report import EndWithout
from ledger.events.values import HowTested, TestResult
from ledger.result import Result
from roles.outcome_status import OutcomeStatus


class CruxReport(Result, frozen=True):
    """A crux with its words. `probability`: the proposers' mean, in percent. `value`: of a test, in points, now while
    it is not settled; `value_here`: of the test that this run can make, null where it can make none. `result` and
    `level` are null while it is not settled; `disagree`: two programs were run for it and came out differently."""

    claim: str
    text: str
    how: HowTested
    kept: bool
    probability: float | None
    value: float | None
    value_here: float | None
    result: TestResult | None
    level: Level | None
    disagree: bool


class UnseenWays(Result, frozen=True):
    """Ways to be wrong that roles named: by one role, by two, over a number of lists; and estimates of all of them."""

    distinct: int
    once: int
    twice: int
    lists: int
    jackknife: float
    chao2: float


class ForecastReport(Result, frozen=True):
    """Forecasts and cruxes of a run. Points are of 100; `before` is the group forecast before any verdict."""

    run: str | None
    status: OutcomeStatus
    options: dict[str, str]
    before: dict[str, float]
    group: dict[str, float]
    roles: dict[str, dict[str, int]]
    leader: str | None
    margin: float | None
    tau: float
    cruxes: list[CruxReport]
    without: dict[str, EndWithout]
    unseen: UnseenWays | None


def report_of(
    table: ForecastTable,
    options: Sequence[str],
    *,
    run: str | None = None,
    texts: Mapping[str, str] | None = None,
    kept: Sequence[str] = (),
    disagree: Sequence[str] = (),
    unseen: Unseen | None = None,
) -> ForecastReport:
    """Report a table; `texts` are the words of options and claims, `kept` the cruxes that the run kept."""
    words, standing = texts or {}, standing_of(table)
    before = group_forecast(table.forecasts.values()) if table.forecasts else None
    return ForecastReport(
        run=run,
        status=standing.status,
        options={option: words.get(option, "") for option in options},
        before=_points(before, options),
        group=_points(standing.group, options),
        roles={
            role: dict(zip(options, forecast, strict=True)) for role, forecast in standing.forecasts.items()
        },
        leader=None if standing.leader is None else options[standing.leader],
        margin=None if standing.margin is None else rounded(standing.margin),
        tau=rounded(table.terms.tau),
        cruxes=[
            _crux(crux, standing, words.get(crux.claim, ""), crux.claim in kept, crux.claim in disagree)
            for crux in ranked(table.cruxes, table.terms.parameters)
        ],
        without={
            role: EndWithout(None if end.leader is None else options[end.leader], end.changes)
            for role, end in without_each(table).items()
        },
        unseen=None if unseen is None else _unseen(unseen),
    )


def rounded(value: Fraction) -> float:
    """Return two decimals, half-even, of an exact value."""
    return float(round(value, 2))


def _points(mean: GroupForecast | None, options: Sequence[str]) -> dict[str, float]:
    return {} if mean is None else {option: rounded(mean.points(n)) for n, option in enumerate(options)}


def _crux(crux: Crux, standing: ForecastStanding, text: str, kept: bool, disagree: bool) -> CruxReport:
    # A settled crux has no value any more: its test was made.
    now = next((open_crux for open_crux in standing.unsettled if open_crux.claim == crux.claim), None)
    verdict, mean = crux.verdict, crux.mean
    return CruxReport(
        claim=crux.claim,
        text=text,
        how=crux.how,
        kept=kept,
        probability=None if mean is None else rounded(Fraction(mean.probability, mean.roles)),
        value=None if now is None else rounded(now.best),
        value_here=None if now is None or now.here is None else rounded(now.here),
        result=None if verdict is None else "holds" if verdict.holds else "fails",
        level=None if verdict is None else verdict.level,
        disagree=disagree,
    )


def _unseen(unseen: Unseen) -> UnseenWays:
    return UnseenWays(
        unseen.distinct,
        unseen.once,
        unseen.twice,
        unseen.lists,
        rounded(unseen.jackknife),
        rounded(unseen.chao2),
    )
